"""CRBM features: found without supervision by a convolutional RBM, and a linear value over them.

Largman and Pham, *Convolutional restricted Boltzmann machine features for TD learning in Go*.
"""

from __future__ import annotations

from katachi.core.registry import System

SYSTEM = System(
    name="crbm",
    title="Features of a convolutional RBM, and their value (Largman and Pham)",
    cards={"crbm": "katachi.crbm.evaluator:CrbmCard"},
    feature_cards={"templates": "katachi.crbm.features:TemplatesCard"},
    trainings={"crbm": "katachi.crbm.config:TRAINING", "value": "katachi.crbm.value:TRAINING"},
    releases={"crbm": "katachi.crbm.value:RELEASE"},
    warmup={"CRBMs": "katachi.crbm.evaluator:warmup"},
    draw="katachi.crbm.drawing:draw",
)

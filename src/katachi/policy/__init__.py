"""Move prediction: a convolutional network that predicts the moves of people, and perhaps who wins and who owns what.

Maddison, Huang, Sutskever and Silver, *Move evaluation in Go using deep convolutional neural networks* (2014).
"""

from __future__ import annotations

from katachi.core.registry import System

SYSTEM = System(
    name="policy",
    title="Move prediction from game records (Maddison, Huang, Sutskever and Silver 2014)",
    cards={"policy": "katachi.policy.evaluator:PolicyCard"},
    trainings={"policy": "katachi.policy.config:TRAINING", "expert": "katachi.policy.expert:TRAINING"},
    releases={"policy": "katachi.policy.measure:RELEASE", "expert": "katachi.policy.expert:RELEASE"},
    warmup={"planes": "katachi.policy.planes:warmup", "convolutions": "katachi.policy.kernels.convolutions:warmup"},
    aliases={"cnn": "policy"},
)

"""Local shapes: a logistic-linear value over binary templates, learned by self-play.

Silver, Sutton and Müller, *Reinforcement learning of local shape in the game of Go* (IJCAI 2007).
"""

from __future__ import annotations

from katachi.core.registry import System

SYSTEM = System(
    name="shapes",
    title="Local shapes, learned from nothing by self-play (Silver, Sutton and Müller 2007)",
    cards={"linear": "katachi.core.linear:LinearCard"},
    feature_cards={
        "local shapes": "katachi.shapes.features:LocalShapesCard",
        "liberty shapes": "katachi.shapes.liberty:LibertyShapesCard",
        "combined shapes": "katachi.shapes.liberty:CombinedShapesCard",
    },
    trainings={"shapes": "katachi.shapes.train:TRAINING"},
    releases={"shapes": "katachi.shapes.train:RELEASE"},
    warmup={"local shapes": "katachi.shapes.model:warmup", "self-play": "katachi.shapes.learner:warmup"},
    lessons={"shapes": "katachi.shapes.lesson:LESSON"},
    draw="katachi.shapes.drawing:draw",
)

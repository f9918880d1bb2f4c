"""Territory: a recursive network that predicts who will own each point, on boards of any size.

Wu and Baldi, *A scalable machine learning approach to Go* (2006).
"""

from __future__ import annotations

from katachi.core.registry import System

SYSTEM = System(
    name="territory",
    title="Who will own each point, from finished games (Wu and Baldi 2006)",
    cards={"territory": "katachi.territory.evaluator:TerritoryCard"},
    trainings={"territory": "katachi.territory.train:TRAINING"},
    releases={"territory": "katachi.territory.train:RELEASE"},
    warmup={"territory": "katachi.territory.network:warmup"},
    draw="katachi.territory.evaluator:draw",
    aliases={"dag_rnn": "territory"},
)

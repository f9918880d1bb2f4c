"""Silver, Sutton and Müller, *Reinforcement learning of local shape in the game of Go* (IJCAI 2007), remade."""

from __future__ import annotations

from typing import Final

from katachi.papers.documents import numbered
from katachi.papers.experiment import Budget, Experiment
from katachi.papers.silver2007 import figure4
from katachi.papers.silver2007.extras import Cascade, Growing, KeyLearners
from katachi.papers.silver2007.figure4 import Figure4
from katachi.papers.silver2007.figures import ANCHOR, Figure3, Figure5, Figure6

_DIFFERENCES: Final = (
    f"The paper does not give the komi of its {figure4.SIZE}×{figure4.SIZE} games. Ours is {figure4.KOMI}, with which "
    "ALP against itself is nearly even.",
    "With shapes up to 3×3 we learn after each game instead of after each move, and choose moves with tables that are "
    "renewed after every batch of games. That is many times faster; the table of key learners compares both. Larger "
    "shapes, and the cascade, learn after every move.",
    "The paper tests the agents as they are. We also test the mean of their weights over the second half of the games "
    "(*averaged*), because greedy self-play with a constant step swings a lot from one moment to the next.",
    "The paper forbids to play in one's own single-point eyes, and does not say how games end. Where we learn and test "
    "against ALP, whoever has no other legal move passes; two passes end a game, or four moves a point (100 on 5×5, "
    "324 on 9×9), and the area decides, with all stones taken for alive. In Figure 5 three moves a point are the most "
    "(243), and playouts say which stones are dead.",
    f"The paper's means are over 50 runs, those of our budget `full` over {figure4.RUNS[Budget.FULL]}; `--runs 50` "
    "does them all. Runs in which the agents never exceed 50 % count as all of their games here; what the paper does "
    "with them is not said.",
    "The paper's final agents are a pair that learned with the cascade and on growing boards. Ours are single agents "
    "that play themselves, with the logistic gradient and averaged weights; `katachi models` says how each was "
    "trained.",
    "The Computer Go Server of the paper is gone. Our ratings come from tournaments with simple players and GNU Go, "
    f"from openings of two random moves, and {ANCHOR.player} alone joins the two scales: that ours stand above the "
    "paper's says that they beat it more clearly, and nothing of the other programs on that server.",
    "The paper's Linear-L has liberty shapes up to 3×3, hashed into bins. Ours has them up to 2×2, each with a "
    "weight of its own: those fuse into tables.",
    "The paper's Linear-S had ten minutes a game. Ours searches for five seconds per move, and plays captures out for "
    "four plies below its last depth (quiescence), of which the paper says nothing.",
)

_HEAD: Final = f"""
David Silver, Richard Sutton and Martin Müller, *Reinforcement learning of local shape in the game of Go*, IJCAI
2007. A player learns Go from nothing but games against itself: its value is a logistic of a sum of weights, one for
each of very many small shapes on the board, and after each move the weights are changed so that the value of the
board comes nearer to that of the next one. The baseline is the average liberty player, ALP, which plays where its
chains have the most liberties on average and the opponent's the fewest.

<!-- not run: hours; tests/papers runs parts of it with few games -->

```sh
katachi reproduce silver2007 --budget smoke
katachi reproduce silver2007 --table figure4 --budget full --jobs 2
katachi reproduce silver2007 --table figure4 --budget full --runs 50 --backend ray --cluster head:6379 --jobs 0
katachi reproduce silver2007 --table key-learners --budget full --jobs 2
```

An interrupted command resumes when it is given again. Measured here: {{measured}}.

## Differences from the paper

{numbered(_DIFFERENCES)}
"""

EXPERIMENT: Final = Experiment(
    name="silver2007",
    title="Local shapes by temporal-difference learning",
    tables=(Figure3(), Figure4(), KeyLearners(), Growing(), Cascade(), Figure5(), Figure6()),
    head=_HEAD,
)

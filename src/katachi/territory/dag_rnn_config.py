"""What a DAG-RNN is made of: its networks, their weights by name and shape, and how many there are.

A DAG-RNN says of every point who will own it (Wu and Baldi 2006). From each corner of the board a *plane* of hidden
states spreads to the opposite one: the state of a point is made of its inputs and of the states of its two
predecessors, those of its neighbors that are nearer to that corner. The outputs of a point are made of its inputs and
of its states in the four planes, so every point hears of the whole board. Each of these steps is a small network
with one hidden layer; the same ones serve all points and all four planes, and so boards of any size.

```
inputs → sweep 0: interior, side or corner network, in four planes → … → output network → ownership of the point
                                                                                        → policies of Black and White
```

The paper has one sweep. A further sweep is given the states of the earlier ones beside the inputs.

>>> DagRnnConfig().parameter_count(inputs=69), DagRnnConfig(borders="full").parameter_count(inputs=69)
(5801, 6185)
"""

from __future__ import annotations

import math
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

KINDS: Final = ("interior", "side", "corner")  # points with two predecessors, with one, and with none
PLANES: Final = 4
MAX_SWEEPS: Final = 4
Shape = tuple[int, ...]


class DagRnnConfig(BaseModel):
    """A network without its weights; the defaults are the paper's."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    hidden: int = Field(default=16, ge=8, le=256, multiple_of=8)  # units in the hidden layer of each network
    channels: int = Field(default=8, ge=8, le=256, multiple_of=8)  # numbers in the state of a point in one plane
    sweeps: int = Field(default=1, ge=1, le=MAX_SWEEPS)
    # logistic: all units are. gated: hidden units are rectified, and a state is a mean of its predecessors and of
    # something new, weighted by a gate, so that news travel far.
    cell: Literal["logistic", "gated"] = "logistic"
    # What the side and corner networks see. reduced: the predecessors that there are; full: zeros for those missing.
    borders: Literal["reduced", "full"] = "reduced"
    # Whether both predecessors are seen alike, and with them each point and its mirror image in the diagonal. Then all
    # eight symmetries of a board give those of the output; otherwise its four flips do.
    diagonal: bool = False
    # Whether boards are shown as he sees them who has just moved, his own stones black, so that the network knows whose
    # turn it is. The paper tells its network nothing of that.
    by_mover: bool = False
    policy: bool = False  # whether the output network also tells the logits of the next move, of Black and of White

    @classmethod
    def strong(cls) -> DagRnnConfig:
        """Our own, stronger than the paper's."""
        return cls(hidden=32, channels=16, sweeps=2, cell="gated", diagonal=True, by_mover=True)

    @property
    def ends(self) -> int:
        """The outputs of a network that makes states: the state itself, or a gate and a proposal for each number."""
        return self.channels * (2 if self.cell == "gated" else 1)

    @property
    def outputs(self) -> int:
        """The outputs of the output network."""
        return 3 if self.policy else 1

    def predecessors(self, kind: str) -> int:
        """How many predecessors a network of a kind sees."""
        return 2 if self.borders == "full" else 2 - KINDS.index(kind)

    def weight_shapes(self, inputs: int) -> dict[str, Shape]:
        """All arrays of weights by name, for so many inputs a point.

        ``hidden`` of a network is [hidden, seen]: the inputs, then the states in the four planes of every earlier
        sweep (or of all, for the output network), then those of the predecessors, above and left of the point when
        the plane's corner is the upper left.
        """
        shapes: dict[str, Shape] = {}
        for sweep in range(self.sweeps):
            seen = inputs + PLANES * self.channels * sweep
            for kind in KINDS:
                width = seen + self.channels * self.predecessors(kind)
                shapes |= self._network(f"sweeps.{sweep}.{kind}", width, self.ends)
        return shapes | self._network("output", inputs + PLANES * self.channels * self.sweeps, self.outputs)

    def _network(self, name: str, seen: int, ends: int) -> dict[str, Shape]:
        return {
            f"{name}.hidden": (self.hidden, seen),
            f"{name}.hidden_bias": (self.hidden,),
            f"{name}.output": (ends, self.hidden),
            f"{name}.output_bias": (ends,),
        }

    def parameter_count(self, inputs: int) -> int:
        """How many numbers are learned."""
        return sum(math.prod(shape) for shape in self.weight_shapes(inputs).values())

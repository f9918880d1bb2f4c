"""A DAG-RNN as an evaluator, its card, and drawings: ownership, what follows from it, and how likely each move is.

E is the area that Black can expect: the sum over all points of the probability that it is Black's. Black wins by a
logistic of the expected lead, komi included. A move is the more probable the more of E it brings its player, in
proportion to e^(E / temperature) (Wu and Baldi 2006); a network with policies of its own is asked for these instead.
All afterstates of a position are evaluated in one batch.

>>> from katachi.territory.inputs import PointInputs
>>> from katachi.territory.inputs import TABLE_SHAPE
>>> from katachi.territory.network import DagRnnConfig
>>> net = DagRnn.new(DagRnnConfig(), PointInputs(), seed=0)
>>> evaluator = TerritoryEvaluator(Territory(net, np.zeros(TABLE_SHAPE, dtype=np.float32)))
>>> sweep = evaluator.sweep_areas(Board(3))
>>> sweep.shape, bool(((sweep > 0) & (sweep < 9)).all())
((10,), True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from katachi.core import drawing
from katachi.core.cards import Hex, Metric, ModelCard, ModelError, ReadFile, Strict, Training, digest_file
from katachi.core.contracts import Doubles, Evaluation, Floats, Outcome, OwnershipEvaluator
from katachi.core.evaluators import after, check_temperature, moves_of, softmax_policy
from katachi.core.models import WEIGHTS, SavedModel, blaming, format_tensors, open_model, parse_tensors, save_model
from katachi.features.influence import INFLUENCES, AnyInfluence, GroupKind, map_influence
from katachi.go.board import Board
from katachi.go.points import BLACK
from katachi.go.rules import DEFAULT_KOMI
from katachi.territory.inputs import PointInputs, check_table
from katachi.territory.network import DagRnn, DagRnnConfig

DEFAULT_POINTS: Final = 5.0  # of a lead that make e : 1 of the odds of a win
DEFAULT_AREA_TEMPERATURE: Final = 1.0  # points of expected area that make a move e times as likely
_BATCH: Final = 64  # boards at a time: their inputs, 6 MB on 19×19, stay near the processor


@dataclass(frozen=True)
class Territory:
    """A network, and the table of propensities that its inputs are made with."""

    net: DagRnn
    propensity: Floats

    def logits(self, boards: Sequence[Board]) -> Floats:
        """What the network says of boards of one size, [B, n², 1 or 3] (see ``DagRnn.logits``)."""
        parts = [boards[first : first + _BATCH] for first in range(0, len(boards), _BATCH)]
        return np.concatenate([self._logits(part) for part in parts])

    def _logits(self, boards: Sequence[Board]) -> Floats:
        inputs, size = self.net.inputs.encode(boards, self.propensity), boards[0].size
        if not self.net.config.by_mover:
            return self.net.logits(inputs, size)
        moved_by_white = [board.to_play == BLACK for board in boards]
        inputs[moved_by_white] = self.net.inputs.exchange(inputs[moved_by_white])
        logits = self.net.logits(inputs, size)
        logits[moved_by_white] = exchange_logits(logits[moved_by_white])
        return logits

    def ownership(self, boards: Sequence[Board]) -> Floats:
        """Who will own each point of boards of one size, [B, n²] in [−1, 1]; +1 is Black's."""
        return np.tanh(self.logits(boards)[:, :, 0] / 2)


class TerritoryEvaluator:
    """Meets ``OutcomeEvaluator`` and ``AfterstateEvaluator``, on boards of any size."""

    def __init__(
        self,
        territory: Territory,
        komi: float = DEFAULT_KOMI,
        points: float = DEFAULT_POINTS,
        temperature: float = DEFAULT_AREA_TEMPERATURE,
    ) -> None:
        """So many ``points`` of a lead make e : 1 of the odds of a win; the temperature is one of expected areas."""
        self.territory = territory
        self._komi = komi
        self._points = check_temperature(points)
        self._temperature = check_temperature(temperature)

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """P(Black wins) of the boards, and how likely each move is."""
        logits = self.territory.logits(boards)
        areas = expected_areas(logits)
        if self.territory.net.config.policy:
            policy = np.stack([_mask(board, ends) for board, ends in zip(boards, logits, strict=True)])
        else:
            policy = np.stack(
                [softmax_policy(self.sweep_areas(board), board.to_play, self._temperature) for board in boards]
            )
        return Evaluation(self._wins(areas, boards[0].size).astype(np.float32), policy)

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each legal move, [n²+1]; NaN elsewhere."""
        return self._wins(self.sweep_areas(board), board.size)

    def sweep_areas(self, board: Board) -> Doubles:
        """The area that Black can expect after each legal move, [n²+1]; NaN elsewhere."""
        legal = board.legal_moves()
        sweep = np.full(legal.size, np.nan)
        sweep[legal] = expected_areas(self.territory.logits([after(board, move) for move in moves_of(legal)]))
        return sweep

    def ownership(self, boards: Sequence[Board]) -> Floats:
        """Who will own each point, [B, n²]; +1 is Black's."""
        return self.territory.ownership(boards)

    def at_komi(self, komi: float) -> TerritoryEvaluator:
        """The same network for games with another komi."""
        return TerritoryEvaluator(self.territory, komi, self._points, self._temperature)

    def predict_outcome(self, boards: Sequence[Board]) -> Outcome:
        """What follows from who will own what; the spread of the lead is that of the logistic that makes it a value."""
        owners = self.ownership(boards)
        lead = owners.sum(axis=1, dtype=np.float64) - self._komi
        wins = self._wins_by(lead)
        spread = np.full(len(boards), self._points * np.pi / np.sqrt(3))
        wins, doubt, lead, spread = np.stack([wins, np.sqrt(wins * (1 - wins)), lead, spread]).astype(np.float32)
        return Outcome(wins, doubt, lead, spread, owners)

    def evaluate_outcomes(self, boards: Sequence[Board]) -> tuple[Evaluation, Outcome]:
        """Both, one after the other."""
        return self.evaluate(boards), self.predict_outcome(boards)

    def _wins(self, areas: Doubles, size: int) -> Doubles:
        return self._wins_by(2 * areas - size * size - self._komi)

    def _wins_by(self, lead: Doubles) -> Doubles:
        return np.asarray(1 / (1 + np.exp(-lead / self._points)))


def exchange_logits(logits: Floats) -> Floats:
    """Of what a network says of boards what it says of them with colors exchanged, [B, n², 1 or 3]."""
    return np.concatenate([-logits[:, :, :1], logits[:, :, :0:-1]], axis=2)


def expected_areas(logits: Floats) -> Doubles:
    """The area that Black can expect on each board, [B], from what a network says of it."""
    return np.asarray((1 / (1 + np.exp(-logits[:, :, 0].astype(np.float64)))).sum(axis=1))


def _mask(board: Board, logits: Floats) -> Floats:
    """The network's policy of the player to move over legal moves, [n²+1]; the pass is the last resort."""
    legal = board.legal_moves()
    ends = np.append(logits[:, 1 if board.to_play == BLACK else 2].astype(np.float64), 0.0)
    legal[-1] = not legal[:-1].any()
    weights = np.where(legal, np.exp(ends - ends[legal].max(), where=legal, out=np.zeros(ends.size)), 0.0)
    policy: Floats = (weights / weights.sum()).astype(np.float32)
    return policy


# The card of a DAG-RNN: its configuration, the inputs that it is given, and what a point of the score is worth to it.
#
# ``weights.safetensors`` holds its weights and the table of propensities that its inputs are made with, which has no
# more places than 16-bit numbers have. The digest of the inputs says whether they still mean what they meant when the
# network learned.

FORMAT: Final = 1
PROPENSITY: Final = "propensity"  # the name of the table among the weights


class TerritoryOptions(Strict):
    """How a network is asked."""

    komi: float = Field(default=DEFAULT_KOMI, ge=-1000, le=1000)
    temperature: float | None = Field(default=None, gt=0, le=1e6)  # of expected areas; None is what the card says
    points: float | None = Field(default=None, gt=0, le=1e6)  # of a lead, as on the card; for boards of other sizes


class TerritoryCard(ModelCard):
    """Everything about a network but its weights."""

    options: ClassVar[type[Strict]] = TerritoryOptions

    format: Literal[1] = FORMAT
    kind: Literal["territory"] = "territory"
    config: DagRnnConfig
    inputs: PointInputs
    inputs_digest: Hex
    points: float = Field(default=DEFAULT_POINTS, gt=0, le=1e6)  # of a lead that make e : 1 of the odds of a win
    temperature: float = Field(default=DEFAULT_AREA_TEMPERATURE, gt=0, le=1e6)  # of expected areas, for the policy
    training: Training = Training()
    metrics: dict[str, Metric] = Field(default_factory=dict)
    weights_sha256: Hex = ""

    @property
    def files(self) -> dict[str, str]:
        return {WEIGHTS: self.weights_sha256}

    @property
    def board_size(self) -> None:
        return  # any

    @property
    def title(self) -> str:
        net = self.config
        sweeps = "" if net.sweeps == 1 else f", {net.sweeps} sweeps"
        return f"{net.cell} DAG-RNN, {net.hidden} hidden units, {net.channels} channels{sweeps}"

    @property
    def remarks(self) -> list[str]:
        return ["ownership and policy" if self.config.policy else "ownership"]

    def count_weights(self, read: ReadFile) -> int:  # noqa: ARG002 (the card knows)
        """How many numbers were learned, without the table of propensities."""
        return self.config.parameter_count(self.inputs.d)

    def build(self, read: ReadFile, options: TerritoryOptions) -> TerritoryEvaluator:
        """The network as an evaluator."""
        territory = self.read_territory(read)
        points, temperature = options.points or self.points, options.temperature or self.temperature
        return TerritoryEvaluator(territory, options.komi, points, temperature)

    def read_territory(self, read: ReadFile) -> Territory:
        """All that is in the file; raises ValueError if it is another's, or the inputs mean something else today."""
        if self.inputs.digest != self.inputs_digest:
            raise ModelError(f"its inputs have the digest {self.inputs_digest}, but {self.inputs.digest} today")
        tensors = parse_tensors(read(WEIGHTS))
        if PROPENSITY not in tensors:
            raise ModelError("its weights are damaged: there is no table of propensities")
        propensity = check_table(tensors.pop(PROPENSITY))
        return Territory(DagRnn(self.config, self.inputs, tensors), propensity)


def save_territory(
    path: Path | str,
    territory: Territory,
    points: float,
    temperature: float,
    training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
    *,
    replace: bool = False,
) -> None:
    """Write a DAG-RNN as ``save_model`` does; ``TerritoryEvaluator`` says what points and temperature are."""
    table = check_table(territory.propensity).astype(np.float16)
    content = format_tensors({**territory.net.arrays(), PROPENSITY: table})
    card = TerritoryCard(
        config=territory.net.config,
        inputs=territory.net.inputs,
        inputs_digest=territory.net.inputs.digest,
        points=points,
        temperature=temperature,
        training=training or Training(),
        metrics=dict(metrics or {}),
        weights_sha256=digest_file(content),
    )
    save_model(path, card, {WEIGHTS: content}, replace=replace)


def load_territory(path: Path | str) -> tuple[Territory, TerritoryCard]:
    """Read a DAG-RNN and its card; raises ModelError if it is of another kind."""
    saved = open_model(path, TerritoryCard)
    with blaming(path):
        return saved.card.read_territory(saved.read), saved.card


# Drawings: whose each point will be, and as sheets of small boards what a network reads.

_LEAD: Final = (
    "Blue points will be Black’s, yellow ones White’s, the surer the stronger the color. Below the board are the moves "
    "that promise most."
)


def draw(saved: SavedModel[Any], request: drawing.DrawRequest) -> drawing.Drawing:
    """Whose each point will be, and the moves that promise most."""
    game = request.position(saved.card.board_size)
    evaluator = saved.load()
    if not isinstance(evaluator, OwnershipEvaluator):
        raise drawing.DrawingError(f"{request.name} does not say who will own each point")
    layer = drawing.ownership_layer(evaluator.ownership([game.board])[0], f"by {request.name}")
    position, svg = drawing.evaluate_position(evaluator, game), drawing.draw_layer(game.board, layer, game.last_move)
    return drawing.Drawing(
        f"Whose each point will be, by {request.name}",
        _LEAD,
        (drawing.Section(position.title, (drawing.Figure(svg),), position.best()),),
        svg,
        drawing.show_layer(game, layer, drawing.show_moves(position)),
    )


def draw_influence(
    board: Board, influences: Mapping[str, AnyInfluence] = INFLUENCES, group: GroupKind = "chain"
) -> str:
    """Black's influence less White's by each of some rules, side by side as one SVG, red where Black is felt more."""
    pictures = []
    for name, influence in influences.items():
        black, white = map_influence(board, influence, group)
        words = f"{name}: red where Black is felt more, blue where White is"
        pictures.append(drawing.Picture(name, words, (black - white).reshape(board.size, board.size)))
    return drawing.draw_sheet("Influence", board, pictures)


def draw_point_inputs(inputs: PointInputs, board: Board, propensity: Floats | None = None) -> str:
    """The inputs of each point itself as one SVG; those of its neighbors are the same, so that they are not drawn.

    Without a table all propensities are 0.
    """
    (encoded,) = inputs.encode([board], propensity)
    grids = encoded.T.reshape(inputs.d, board.size, board.size)
    pictures = [drawing.Picture(inputs.names[i], inputs.describe(i), grids[i]) for i in inputs.own]
    return drawing.draw_sheet(f"{inputs.d} inputs of a point", board, pictures)

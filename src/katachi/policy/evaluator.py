"""A convolutional network as an evaluator, through onnxruntime: what people of a rank would play here.

The policy is a softmax over the points that are legal under simple ko. Networks learn from moves alone, so the pass
is given what an even policy would give it: 1 / (legal points + 1). The value is that of the value head; without one
it is a half. Some networks also say by how much who wins, for any komi, and who owns what. The planes need no more
than boards, which remember their last moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from katachi.core.cards import Hex, Metric, ModelCard, ModelError, ReadFile, Strict, Training, digest_file
from katachi.core.contracts import Evaluation, Floats, Ints, Outcome
from katachi.core.evaluators import WrongBoardSize
from katachi.core.models import WEIGHTS, format_tensors, parse_tensors, save_model
from katachi.features.planes import HIGHEST_RANK
from katachi.go.board import Board, Boards, legal_moves_of, stack_records
from katachi.go.points import BLACK, Symmetry
from katachi.go.rules import DEFAULT_KOMI
from katachi.policy.config import PolicyConfig
from katachi.policy.planes import PLANES
from katachi.sgf.record import MOST_KYU, format_grade, parse_grade, rank_codes

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


# Networks in ONNX files, run by onnxruntime: threads bounded, none of them idling on a core that others could use.

Shape = tuple[int | None, ...]  # None is any length


class OnnxNetwork:
    """A network with named arrays in and out. May be asked from several threads at once."""

    def __init__(self, content: bytes, threads: int = 1) -> None:
        """Load an ONNX file; raises ModelError if it is damaged, or is more than a network of ours can be."""
        check_onnx(content)
        from onnxruntime import InferenceSession, SessionOptions  # takes a moment: only where a network is wanted

        options = SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # fatal; the rest comes as an exception
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        with _blaming_network():
            self._session: InferenceSession = InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def check(self, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> None:
        """Raise ModelError if the network does not take and give arrays of these names and shapes."""
        found = {node.name: tuple(node.shape) for node in self._session.get_inputs()}
        if found.keys() != inputs.keys():
            raise ModelError(f"its network takes {_list(found)}, but {_list(inputs)} is needed")
        found |= {node.name: tuple(node.shape) for node in self._session.get_outputs()}
        for name, shape in {**inputs, **outputs}.items():
            if name not in found:
                raise ModelError(f"its network gives no {name}")
            if not _fits(found[name], shape):
                raise ModelError(f"the {name} of its network has the shape {list(found[name])}, not {list(shape)}")

    def run(self, inputs: Mapping[str, NDArray[Any]], outputs: Sequence[str]) -> list[Floats]:
        """What the network gives under these names; raises ModelError if it fails."""
        with _blaming_network():
            arrays: list[Floats] = self._session.run(list(outputs), dict(inputs))
        return arrays


# What a file may hold is looked up before onnxruntime sees it, which would run loops, read other files that a network
# names, and expand what is sparse. These are the numbers of the fields in onnx.proto.

MAX_ONNX_BYTES: Final = 1 << 28
MAX_ONNX_NODES: Final = 10_000
_GRAPH, _FUNCTIONS = 7, 25  # of a model
_NODE, _INITIALIZER, _SPARSE = 1, 5, 15  # of a graph
_OPERATOR, _DOMAIN = 4, 7  # of a node
_EXTERNAL, _LOCATION = 13, 14  # of a tensor
_OPERATORS: Final = frozenset(
    b"Add BatchNormalization Cast Clip Concat Conv DequantizeLinear Div Exp Flatten Gather Gemm GlobalAveragePool "
    b"GlobalMaxPool Identity LayerNormalization MatMul Mul QuantizeLinear ReduceMax ReduceMean ReduceSum Relu Reshape "
    b"Sigmoid Softmax Sqrt Squeeze Sub Tanh Transpose Unsqueeze".split()
)


def check_onnx(content: bytes) -> None:
    """Raise ModelError unless an ONNX file is a plain network: operators without a loop, all weights inside."""
    if len(content) > MAX_ONNX_BYTES:
        raise ModelError(f"its network is larger than {MAX_ONNX_BYTES:,} bytes")
    nodes = 0
    for number, graph in _fields(memoryview(content)):
        if number == _FUNCTIONS:
            raise ModelError("its network has functions of its own, which are not run")
        for part, message in _fields(graph) if number == _GRAPH else ():
            if part == _SPARSE or (part == _INITIALIZER and any(_is_elsewhere(*field) for field in _fields(message))):
                raise ModelError("its network has weights outside of its file, or sparse ones, which are not read")
            nodes += part == _NODE
            for name, value in _fields(message) if part == _NODE else ():
                allowed = {_OPERATOR: _OPERATORS, _DOMAIN: (b"", b"ai.onnx")}.get(name)
                if allowed is not None and bytes(value) not in allowed:
                    raise ModelError(f"its network has {bytes(value[:40])!r}, which is not run")
    if nodes > MAX_ONNX_NODES:
        raise ModelError(f"its network has more than {MAX_ONNX_NODES:,} nodes")


def _is_elsewhere(number: int, value: memoryview) -> bool:
    return number == _EXTERNAL or (number == _LOCATION and any(value))


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The numbers and bytes of the fields of a protocol buffer; raises ModelError if it is damaged."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        start, kind = at, key & 7
        if kind == 0:
            _, at = _read_varint(message, at)
        elif kind == 2:
            length, start = _read_varint(message, at)
            at = start + length
        else:
            at += {1: 8, 5: 4}.get(kind, len(message))
        if at > len(message):
            raise ModelError("its network is damaged: a part of it is cut off")
        yield key >> 3, message[start:at]


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number in sevens of bits, low ones first, and where it ends."""
    value = 0
    for shift, byte in enumerate(message[at : at + 10]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    raise ModelError("its network is damaged: a number in it is cut off")


@contextmanager
def _blaming_network() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (what onnxruntime raises has no common class)
        reason = " ".join(str(error).split())
        raise ModelError(f"its network is damaged: {reason[:200]}") from None


def _fits(found: tuple[int | str | None, ...], wanted: Shape) -> bool:
    """Whether lengths agree where both are known; those of a file that vary have names or none."""
    return len(found) == len(wanted) and all(
        length == needed or not isinstance(length, int) or needed is None
        for length, needed in zip(found, wanted, strict=True)
    )


def _list(names: Mapping[str, object]) -> str:
    return " and ".join(sorted(names)) or "nothing"


# The evaluator

MAX_THREADS: Final = 256
_ON_POINTS: Final = ("policy", "ownership")  # what turns with the board
_LOWEST: Final = np.float32(-1e30)  # no logit is below


def _read_grade(rank: object) -> object:
    """The grade of a rank that is written, such as 15k; anything else as it is."""
    return parse_grade(rank) if isinstance(rank, str) else rank


Grade = Annotated[int, BeforeValidator(_read_grade), Field(ge=1 - MOST_KYU, le=HIGHEST_RANK)]


class PolicyOptions(Strict):
    """How a network is asked."""

    # of the player to imitate: 5, or 5d, is 5 dan, and 15k 15 kyu where the network knows kyu ranks; None: the highest
    rank: Grade | None = None
    server: str | None = None  # whose ranks are meant, if the network knows several servers; None: the first
    komi: float = Field(default=DEFAULT_KOMI, ge=-1000, le=1000)  # where nobody says it; what Black's area must exceed
    symmetries: bool = False  # ask about all eight symmetries of a board, and average: eight times the work
    precision: Literal["fp32", "int8"] = "fp32"
    temperature: float = Field(default=1.0, ge=0.001, le=1000)  # of the policy: below 1 it is sharper
    threads: int = Field(default=1, ge=1, le=MAX_THREADS)  # that work on one batch


class PolicyEvaluator:
    """A network with a policy, and perhaps a value. May be asked from several threads at once.

    Meets ``RankedEvaluator`` and ``ValuingEvaluator``.
    """

    _made_at_komi: PolicyEvaluator | None = None  # the last one: a game asks for the same at every move

    def __init__(self, config: PolicyConfig, network: OnnxNetwork, options: PolicyOptions) -> None:
        """Raises ModelError if the network is not that of the configuration, or knows no ranks and is given one."""
        self.config = config
        self.options = options
        self.network = network
        self._planes = PLANES[config.planes]
        grade = HIGHEST_RANK if options.rank is None else options.rank
        if options.rank is not None and not knows_ranks(config):
            raise ModelError("rank is not an option of a network that was trained without ranks")
        if options.rank is not None and grade < 1 and not config.kyu_ranks:
            raise ModelError(f"this network knows the ranks from 1d to {HIGHEST_RANK}d, not {format_grade(grade)}")
        if options.server is not None and options.server not in config.server_names:
            known = ", ".join(config.server_names) or "no servers"
            raise ModelError(f"this network knows {known}, not {options.server!r}")
        self._dan = max(1, grade)
        code = int(rank_codes(np.array([grade], dtype=np.int8), kyu=config.kyu_ranks)[0])
        self._code = code + config.rank_count * (config.server_names.index(options.server) if options.server else 0)
        network.check(*_arrays(config))

    @property
    def values_positions(self) -> bool:
        """Whether it has a value head."""
        return self.config.value

    @property
    def lowest_rank(self) -> int | None:
        """The lowest rank that it is given of players to move; None if it is given none."""
        if not knows_ranks(self.config):
            return None
        return 1 - MOST_KYU if self.config.kyu_ranks else 1

    def at_rank(self, rank: int) -> PolicyEvaluator:
        """The same network asked about players of another rank, the nearest that it knows; as it is without any."""
        if self.lowest_rank is None:
            return self
        return self._with(rank=min(max(rank, self.lowest_rank), HIGHEST_RANK))

    def at_komi(self, komi: float) -> PolicyEvaluator:
        """The same network for games with another komi; as it is if it is not given komi."""
        if komi == self.options.komi or not (self.config.komi or self.config.score):
            return self
        if self._made_at_komi is None or self._made_at_komi.options.komi != komi:
            self._made_at_komi = self._with(komi=komi)
        return self._made_at_komi

    def _with(self, **changes: Any) -> PolicyEvaluator:
        return type(self)(self.config, self.network, self.options.model_copy(update=changes))

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The policy over legal moves, and the value, averaged over what was asked."""
        stacked = self._stack(boards)
        return self._conclude(stacked, self._ask(stacked, ("policy", "value") if self.config.value else ("policy",)))

    def _conclude(self, boards: Boards, said: Sequence[Sequence[Floats]]) -> Evaluation:
        """What follows from logits of the policy, and of the value if there is one, for every symmetry."""
        legal = legal_moves_of(boards)
        colors = boards.records["to_play"]
        sharpness = np.float32(1 / self.options.temperature)
        policies = [_softmax(self._of_movers(logits, colors) * sharpness, legal[:, :-1]) for logits, *_ in said]
        wins = [_logistic(value[0]) if value else np.full(len(boards), 0.5) for _, *value in said]
        return Evaluation(_of_black(_mean(wins), colors), _with_pass(_mean(policies), legal))

    def _of_movers(self, logits: Floats, colors: NDArray[np.int8]) -> Floats:
        """The policy of those to move, where a network has one for each color."""
        if self.config.outputs == 1:
            return logits[:, 0]
        return logits[np.arange(len(logits)), np.where(colors == BLACK, 0, 1)]

    def _ask(self, boards: Boards, heads: Sequence[str]) -> list[Sequence[Floats]]:
        """What the heads say about boards, once for each symmetry asked; points are those of the boards."""
        planes = self._planes.encode(boards, self._dan)
        ranks = np.full(len(boards), self._code, dtype=np.int64)
        komi = -np.float32(self.options.komi) * boards.records["to_play"]
        said: list[Sequence[Floats]] = []
        for symmetry in Symmetry if self.options.symmetries else (Symmetry.IDENTITY,):
            seen = np.ascontiguousarray(symmetry.transform(planes))
            answers = self.network.run(name_inputs(self.config, seen, ranks, komi), heads)
            if not all(np.isfinite(answer).all() for answer in answers):
                raise ModelError("the network answers with what is not a number")
            came_from = None if symmetry is Symmetry.IDENTITY else symmetry.points(planes.shape[-1])
            said.append(answers if came_from is None else _reorder(answers, heads, came_from))
        return said

    def _repr_html_(self) -> str:
        """What it is made of and how it is asked, for notebooks."""
        settings = {**self.config.model_dump(), **self.options.model_dump()}
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>" for name, value in settings.items()
        )
        return f"<p>A network that predicts moves</p><table>{rows}</table>"

    def _stack(self, boards: Sequence[Board]) -> Boards:
        """Boards with their records in one array; raises WrongBoardSize."""
        records = stack_records(boards)
        lines = records["lines"]
        if not (lines == (self.config.size or lines[0])).all():
            size = self.config.size
            wanted = f"{size}×{size} boards" if size else "boards of one size at a time"
            (other, *_) = lines[lines != (size or lines[0])]
            raise WrongBoardSize(f"this network evaluates {wanted}, not {other}×{other}")
        return Boards(records)


class PolicyOwnershipEvaluator(PolicyEvaluator):
    """A network that also says who will own each point. Meets ``OwnershipEvaluator``."""

    def ownership(self, boards: Sequence[Board]) -> Floats:
        """Who will own each point, [B, n²] in [−1, 1]; +1 is Black's."""
        stacked = self._stack(boards)
        return _owned_by_black([answer for (answer,) in self._ask(stacked, ("ownership",))], stacked)


class PolicyOutcomeEvaluator(PolicyOwnershipEvaluator):
    """A network that also says by how much who wins. Meets ``OutcomeEvaluator``."""

    def predict_outcome(self, boards: Sequence[Board]) -> Outcome:
        """Who wins, by how much, how sure that is, and who owns what."""
        stacked = self._stack(boards)
        said = self._ask(stacked, ("value", "score", "ownership"))
        wins = _mean([_logistic(value) for value, _, _ in said])
        return self._foresee(stacked, _of_black(wins, stacked.records["to_play"]), said)

    def evaluate_outcomes(self, boards: Sequence[Board]) -> tuple[Evaluation, Outcome]:
        """Both, by asking once."""
        stacked = self._stack(boards)
        said = self._ask(stacked, ("policy", "value", "score", "ownership"))
        evaluation = self._conclude(stacked, [heads[:2] for heads in said])
        return evaluation, self._foresee(stacked, evaluation.black_wins, said)

    def _foresee(self, boards: Boards, black_wins: Floats, said: Sequence[Sequence[Floats]]) -> Outcome:
        lead, spread, doubt = _mean([score for *_, score, _ in said]).T
        black_lead = lead * boards.records["to_play"] - np.float32(self.options.komi)
        return Outcome(black_wins, doubt, black_lead, spread, _owned_by_black([heads[-1] for heads in said], boards))


def _reorder(answers: Sequence[Floats], heads: Sequence[str], came_from: Ints) -> list[Floats]:
    """Answers about boards that were turned, for the boards as they were."""
    return [
        answer[..., came_from] if head in _ON_POINTS else answer for head, answer in zip(heads, answers, strict=True)
    ]


def _mean(arrays: Sequence[Floats]) -> Floats:
    """The mean of arrays, which is the array itself where there is one."""
    return arrays[0] if len(arrays) == 1 else np.mean(arrays, axis=0)


def _of_black(movers: Floats, colors: NDArray[np.int8]) -> Floats:
    """Shares of wins of the players to move as Black's."""
    black: Floats = np.where(colors == BLACK, movers, 1 - movers).astype(np.float32)
    return black


def _owned_by_black(movers: Sequence[Floats], boards: Boards) -> Floats:
    """Who owns each point, of answers about those of the players to move."""
    black: Floats = np.clip(_mean(movers) * boards.records["to_play"][:, None], -1, 1)
    return black


def name_inputs(
    config: PolicyConfig, planes: NDArray[np.uint8], ranks: NDArray[np.int64], komi: Floats
) -> dict[str, NDArray[Any]]:
    """What the ONNX file of a network takes."""
    named: dict[str, NDArray[Any]] = {"planes": planes}
    if config.rank_embedding:
        named["rank"] = ranks
    if config.komi:
        named["komi"] = komi
    return named


def knows_ranks(config: PolicyConfig) -> bool:
    """Whether a network is given the rank of the player to move, by its planes or otherwise."""
    return config.rank_embedding or any(kind.title == "rank" for kind in PLANES[config.planes].kinds)


def open_policy(config: PolicyConfig, onnx: bytes, options: PolicyOptions | None = None) -> PolicyEvaluator:
    """The evaluator of a network in an ONNX file; raises ModelError if that is damaged, or not what it should be."""
    options = options or PolicyOptions()
    evaluator = PolicyOwnershipEvaluator if config.ownership else PolicyEvaluator
    if config.ownership and config.score:
        evaluator = PolicyOutcomeEvaluator
    return evaluator(config, OnnxNetwork(onnx, options.threads), options)


def _arrays(config: PolicyConfig) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The arrays that must go in and come out of a network, with their shapes."""
    size = config.size
    points = size * size if size else None
    inputs: dict[str, Shape] = {"planes": (None, config.inputs, size, size)}
    if config.rank_embedding:
        inputs["rank"] = (None,)
    if config.komi:
        inputs["komi"] = (None,)
    outputs: dict[str, Shape] = {"policy": (None, config.outputs, points)}
    if config.value:
        outputs["value"] = (None,)
    if config.score:
        outputs["score"] = (None, 3)
    if config.ownership:
        outputs["ownership"] = (None, points)
    return inputs, outputs


def _softmax(logits: Floats, legal: NDArray[np.bool_]) -> Floats:
    """Probabilities of the legal points, [B, n²]; all 0 where there is none."""
    masked = np.where(legal, logits, -np.inf)
    weights = np.exp(masked - masked.max(axis=1, initial=_LOWEST, keepdims=True))
    shares: Floats = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.float32(1))  # one is e⁰, if any
    return shares


def _with_pass(shares: Floats, legal: NDArray[np.bool_]) -> Floats:
    """The policy with the share of a pass at its end, [B, n²+1], as are the legal moves."""
    policy = np.empty(legal.shape, dtype=np.float32)
    passing = 1 / legal.sum(axis=1, keepdims=True)
    policy[:, :-1] = shares * (1 - passing)
    policy[:, -1:] = passing
    return policy


def _logistic(logits: Floats) -> Floats:
    return (1 / (1 + np.exp(-np.clip(logits, -50, 50)))).astype(np.float32)


# The card of a convolutional network: its architecture, the planes that it reads, and the files that it is kept in.
#
# Play needs ``model.onnx``, or ``model.int8.onnx`` where it was made; ``weights.safetensors`` is there where training
# is to continue. The digest of the planes says whether they still mean what they meant when the network learned.

FORMAT: Final = 1
ONNX: Final = "model.onnx"
INT8: Final = "model.int8.onnx"


class PolicyCard(ModelCard):
    """Everything about a network but its weights."""

    options: ClassVar[type[Strict]] = PolicyOptions

    format: Literal[1] = FORMAT
    kind: Literal["policy"] = "policy"
    config: PolicyConfig
    planes_digest: Hex
    training: Training = Training()
    metrics: dict[str, Metric] = Field(default_factory=dict)
    files: dict[str, Hex] = Field(max_length=3)

    @property
    def board_size(self) -> int | None:
        return self.config.size

    @property
    def title(self) -> str:
        net = self.config
        return f"{net.kind} cnn, {net.layers}×{net.filters}, over {net.planes} planes"

    @property
    def remarks(self) -> list[str]:
        heads = ["policy", *(head for head in ("value", "score", "ownership") if getattr(self.config, head))]
        return [" and ".join(heads), *["by rank"] * knows_ranks(self.config)]

    def count_weights(self, read: ReadFile) -> int:  # noqa: ARG002 (the card knows)
        """How many parameters the network has."""
        return self.config.parameter_count()

    def build(self, read: ReadFile, options: PolicyOptions) -> PolicyEvaluator:
        """The network as an evaluator."""
        name = ONNX if options.precision == "fp32" else INT8
        if name not in self.files:
            raise ModelError(f"it has no {options.precision} form: there is no {name}")
        today = PLANES[self.config.planes].digest
        if today != self.planes_digest:
            raise ModelError(f"its planes have the digest {self.planes_digest}, but {today} today")
        return open_policy(self.config, read(name), options)

    def resize(self, read: ReadFile, size: int) -> tuple[PolicyCard, dict[str, bytes]]:
        """The same network for boards of another size, where a point has the biases of one as far from the edges."""
        if self.config.size is None:
            raise ModelError("it evaluates boards of all sizes as it is")
        from katachi.policy.export import resize_map, resize_onnx

        contents = {name: resize_onnx(read(name), self.config.size, size) for name in self.files if name != WEIGHTS}
        config = self.config.model_copy(update={"size": size})
        if WEIGHTS in self.files:
            shapes = config.weight_shapes()
            weights = parse_tensors(read(WEIGHTS))
            resized = {
                name: array if array.shape == shapes[name] else resize_map(array, size)
                for name, array in weights.items()
            }
            contents[WEIGHTS] = format_tensors(resized)
        files = {name: digest_file(content) for name, content in contents.items()}
        return self.model_copy(update={"config": config, "metrics": {}, "files": files}), contents


def save_policy(
    path: Path | str,
    config: PolicyConfig,
    onnx: bytes,
    int8: bytes | None = None,
    weights: Mapping[str, NDArray[Any]] | None = None,
    training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
    *,
    replace: bool = False,
) -> None:
    """Write a network as ``save_model`` does: what play needs, and its weights if training is to continue."""
    files = {ONNX: onnx, INT8: int8, WEIGHTS: None if weights is None else format_tensors(weights)}
    contents = {name: content for name, content in files.items() if content is not None}
    card = PolicyCard(
        config=config,
        planes_digest=PLANES[config.planes].digest,
        training=training or Training(),
        metrics=dict(metrics or {}),
        files={name: digest_file(content) for name, content in contents.items()},
    )
    save_model(path, card, contents, replace=replace)

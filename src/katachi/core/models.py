"""The store of models: a model is a directory with ``model.json``, its card, and the files that the card describes.

It is written under a temporary name, synced and renamed, so that readers find the whole model or none. Loading
refuses with a ``ModelError`` whatever does not match: an unknown kind, other features, a damaged or exchanged file,
weights that are not numbers. What a kind of model consists of is the business of its card, which the registry finds.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError
from rich.table import Table
from rich.text import Text
from safetensors import SafetensorError
from safetensors.numpy import load, save

from katachi.core.cards import Metric, ModelCard, ModelError, Training, digest_file, explain, provenance
from katachi.core.contracts import Evaluator, Floats, LinearEvaluator, OutcomeEvaluator, RankedOutcomeEvaluator
from katachi.core.disk import NotAFile, read_regular, sync_folder, write_atomically
from katachi.core.execution import here
from katachi.core.registry import UnknownName, find_card, suggest

# Weights on disk: safetensors, never a pickle. What comes from a file is bounded before it is believed.
#
# Networks have many arrays with names. A linear model has one: most shapes never occur, or symmetry gives them the
# weight of another, so that their weights are 0 and are not stored. Its file has ``weights``, those that are not 0, and
# ``present``, a bit for every weight that says whether it is among them. Format 1 had all weights in full.

WEIGHTS: Final = "weights.safetensors"  # the name of the file
MAX_HEADER_BYTES: Final = 1 << 18
MAX_TENSORS: Final = 64
MAX_NETWORK_TENSORS: Final = 1000
_LENGTH_BYTES: Final = 8
_WEIGHTS: Final = "weights"
_PRESENT: Final = "present"


def format_weights(weights: Floats) -> bytes:
    """The bytes of a safetensors file; raises ModelError if a weight is not a number."""
    _check_numbers(weights)
    present = np.ascontiguousarray(weights).view(np.uint32) != 0  # by its bits: a weight of −0 comes back as it is
    content: bytes = save({_WEIGHTS: weights[present], _PRESENT: np.packbits(present)})
    return content


def parse_weights(content: bytes, size: int, format_number: int) -> Floats:
    """All weights of a file, [size]; raises ModelError if they are not what that format has."""
    if format_number == 1:
        return _parse(content, {_WEIGHTS: np.float32}, {_WEIGHTS: size})[_WEIGHTS]
    tensors = _parse(content, {_WEIGHTS: np.float32, _PRESENT: np.uint8}, {_PRESENT: -(-size // 8)})
    bits = np.unpackbits(tensors[_PRESENT])
    present = bits[:size].astype(np.bool_)
    if np.count_nonzero(bits) != tensors[_WEIGHTS].size or bits[size:].any():
        raise ModelError(f"its weights are damaged: {tensors[_WEIGHTS].size} of them, and other places for them")
    weights = np.zeros(size, dtype=np.float32)
    weights[present] = tensors[_WEIGHTS]
    return weights


def format_tensors(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a file of arrays of float32, or of float16 to take half the room."""
    for name, tensor in tensors.items():
        _check_tensor(name, tensor)
    content: bytes = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
    return content


def parse_tensors(content: bytes) -> dict[str, Floats]:
    """All arrays of such a file, as float32; raises ModelError if it is damaged."""
    tensors = _load(content, MAX_NETWORK_TENSORS)
    for name, tensor in tensors.items():
        _check_tensor(name, tensor)
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def _check_tensor(name: str, tensor: NDArray[Any]) -> None:
    if tensor.dtype not in (np.float32, np.float16):
        raise ModelError(f"its {name} is {tensor.dtype}, but float32 or float16 is needed")
    _check_numbers(tensor)


def _load(content: bytes, most: int) -> dict[str, NDArray[Any]]:
    _check_header(content, most)
    try:
        tensors: dict[str, NDArray[Any]] = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"its weights are damaged: {error}") from None
    return tensors


def _parse(content: bytes, kinds: Mapping[str, type[Any]], lengths: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """The tensors of a file: rows of these names, kinds and, where they are known, lengths."""
    tensors = _load(content, MAX_TENSORS)
    if set(tensors) != set(kinds):
        raise ModelError(f"its weights are {_names(tensors)}, but {_names(kinds)} are needed")
    for name, tensor in tensors.items():
        needed = [lengths.get(name, tensor.size)]
        if list(tensor.shape) != needed or tensor.dtype != kinds[name]:
            found = f"{list(tensor.shape)} {tensor.dtype}"
            raise ModelError(f"its {name} are {found}, but {needed} {np.dtype(kinds[name])} are needed")
    _check_numbers(tensors[_WEIGHTS])
    return tensors


def _check_header(content: bytes, most: int) -> None:
    """Refuse a header that is long, that has many tensors, or that is not a JSON object."""
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    if len(content) < _LENGTH_BYTES or length > min(MAX_HEADER_BYTES, len(content) - _LENGTH_BYTES):
        raise ModelError("its weights are damaged: the header is cut off or too long")
    try:
        header = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
    except (ValueError, RecursionError):
        raise ModelError("its weights are damaged: the header is not JSON") from None
    if not isinstance(header, dict) or len(header) > most:
        raise ModelError(f"its weights are damaged: the header does not list {most} tensors at most")


def _check_numbers(weights: NDArray[Any]) -> None:
    if not np.isfinite(weights).all():
        raise ModelError("some of its weights are not numbers")


def _names(tensors: Mapping[str, object]) -> str:
    return ", ".join(sorted(tensors)) or "none"


# Models

CARD: Final = "model.json"
MAX_CARD_BYTES: Final = 1 << 20
MAX_BYTES: Final = 1 << 30  # of any other file
PRETRAINED: Final = Path(str(resources.files("katachi"))) / "pretrained"

Card = TypeVar("Card", bound=ModelCard)
Card_co = TypeVar("Card_co", bound=ModelCard, covariant=True)

# Saving


def save_model(path: Path | str, card: ModelCard, contents: Mapping[str, bytes], *, replace: bool = False) -> None:
    """Write a model, whole or not at all; raises ModelError if the path is taken.

    ``replace`` puts it in the place of the model that is there. A kill between the two renames leaves the old model
    under a temporary name, where ``open_model`` finds it.
    """
    path = Path(path)
    if path.exists() and not (replace and is_model(path)):
        raise ModelError(f"{path}: there is already something here")
    temporary = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        for name, content in contents.items():
            write_atomically(temporary / name, content)
        write_atomically(temporary / CARD, format_card(card))
        _rename(temporary, path)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise ModelError(f"{path}: cannot be written: {error}") from None


def add_metrics(path: Path | str, metrics: Mapping[str, Metric]) -> None:
    """Let the card of a model say more of how well it does; raises ModelError."""
    card = open_model(path).card
    card = card.model_copy(update={"metrics": {**card.metrics, **metrics}})
    with blaming(path):
        write_atomically(_present(Path(path)) / CARD, format_card(card))


def resize_model(name: str, size: int, path: Path) -> None:
    """Write a model for boards of another size, if its kind has any; raises ModelError."""
    source = open_model(find_model(name))
    with blaming(source.path):
        card, contents = source.card.resize(source.read, size)
    made_by = Training(
        command=f"katachi models resize {Path(name).name} --size {size}",
        commit=provenance()["commit"],
        first=card.training,
    )
    save_model(path, card.model_copy(update={"training": made_by}), contents)


def format_card(card: ModelCard) -> str:
    """A card as it is written."""
    return card.model_dump_json(indent=2) + "\n"


# Loading


class _Kind(BaseModel):
    """What is read of a card first."""

    kind: str


def parse_card(text: bytes) -> ModelCard:
    """Read a card of any kind; raises ModelError with the first thing that is wrong with it."""
    try:
        return find_card(_Kind.model_validate_json(text, strict=True).kind).model_validate_json(text)
    except ValidationError as error:
        raise ModelError(f"its card cannot be read: {explain(error)}") from None
    except UnknownName as error:
        raise ModelError(f"its card cannot be read: {error}") from None


@dataclass(frozen=True, slots=True)
class SavedModel(Generic[Card_co]):
    """A model on disk: where it is, and its card."""

    path: Path
    card: Card_co

    def load(self, options: Mapping[str, Any] | None = None) -> Evaluator:
        """Build the model, with options of its kind, if none of its files was changed, those for training included."""
        with blaming(self.path):
            for name in self.card.files:
                if (_present(self.path) / name).exists():
                    self.read(name)
            return self.card.build(self.read, self.card.parse_options(options or {}))

    def count_weights(self) -> int:
        """How large the model is."""
        with blaming(self.path):
            return self.card.count_weights(self.read)

    def read(self, name: str) -> bytes:
        """The content of a file; raises ModelError if it is not the one that the card describes."""
        if Path(name).name != name:
            raise ModelError(f"its card names {name!r}, which is not a file of its folder")
        content = _read(_present(self.path) / name, MAX_BYTES)
        if digest_file(content) != self.card.files.get(name):
            raise ModelError(f"{name} is not what the card describes: one of the files was changed")
        return content


@overload
def open_model(path: Path | str) -> SavedModel[ModelCard]: ...


@overload
def open_model(path: Path | str, needed: type[Card]) -> SavedModel[Card]: ...


def open_model(path: Path | str, needed: type[ModelCard] = ModelCard) -> SavedModel[ModelCard]:
    """Find a model and read its card, which may be needed to be of one class.

    Raises ModelError, which begins with the path, if anything is wrong.
    """
    with blaming(path):
        path = here(path)
        card = parse_card(_read(_present(path) / CARD, MAX_CARD_BYTES))
        if not isinstance(card, needed):
            raise ModelError(f"this is a {card.kind} model, but a {needed.model_fields['kind'].default} one is needed")
        return SavedModel(path, card)


OwningName = Literal["territory-9", "territory-19"]
LinearName = Literal["shapes-5", "shapes-9", "shapes-13", "shapes-19", "shapes-liberties-9", "crbm-9"]
RankedName = Literal["policy-9", "policy-13", "policy-19", "expert-9"]


@overload
def load_model(name: OwningName, options: Mapping[str, Any] | None = None) -> OutcomeEvaluator: ...


@overload
def load_model(name: LinearName, options: Mapping[str, Any] | None = None) -> LinearEvaluator: ...


@overload
def load_model(name: RankedName, options: Mapping[str, Any] | None = None) -> RankedOutcomeEvaluator: ...


@overload
def load_model(name: Path | str, options: Mapping[str, Any] | None = None) -> Evaluator: ...


def load_model(name: Path | str, options: Mapping[str, Any] | None = None) -> Evaluator:
    """A pretrained model, or one on disk (its folder, or that of its training run), with options of its kind.

    Type checkers know what a pretrained model can do besides evaluate; of any other, ask ``isinstance`` with a
    protocol such as ``OwnershipEvaluator``. Raises ModelError. ``open_model`` reads the card alone.
    """
    return open_model(find_model(str(name))).load(options)


def load_weights(path: Path | str) -> dict[str, Floats]:
    """The weights of a network, from which training can continue; raises ModelError if they were not kept."""
    saved = open_model(path)
    with blaming(path):
        return parse_tensors(saved.read(WEIGHTS))


@contextmanager
def blaming(path: Path | str) -> Iterator[None]:
    """Let what goes wrong with a model begin with its path."""
    try:
        yield
    except (ValueError, OSError) as error:  # a ModelError is a ValueError, and so is what the features refuse
        raise ModelError(f"{path}: {error}") from None


def is_model(path: Path) -> bool:
    """Whether a directory looks like a model."""
    return (path / CARD).is_file()


def pretrained_models() -> list[Path]:
    """The directories of the models that come with katachi, in the order of the alphabet."""
    return sorted(path for path in PRETRAINED.iterdir() if is_model(path))


def find_model(name: str) -> Path:
    """The directory of a pretrained model, of the (first) model of a training run, or else the path itself.

    Raises ModelError if there is none of them.
    """
    path = Path(name)
    try:
        if name and path.name == name and is_model(PRETRAINED / name):
            return PRETRAINED / name
        path = here(path)
        for place in (path, path / "model", path / "model-1"):
            if is_model(_present(place)):
                return place
    except OSError as error:  # a name that is too long, or a folder that may not be read
        raise ModelError(f"{name[:100]}: {error.strerror}") from None
    hint = suggest(name, (each.name for each in pretrained_models()))
    raise ModelError(f"{name}: there is no such model, neither pretrained nor on disk; {hint}")


def _read(path: Path, most: int) -> bytes:
    """A regular file that is not too large."""
    try:
        return read_regular(path, most)
    except FileNotFoundError:
        raise ModelError(f"there is no file {path.name}") from None
    except NotAFile as error:
        raise ModelError(f"{path.name} cannot be read: {error.strerror}") from None


# Renaming


def _old_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")


def _present(path: Path) -> Path:
    """The path, or where a killed ``save_model`` left the model that it was about to replace."""
    old = _old_path(path) if path.name else path
    return old if not path.exists() and is_model(old) else path


def _rename(temporary: Path, path: Path) -> None:
    """Give a directory its name, away from a model that has it."""
    old = _old_path(path)
    if path.exists():
        shutil.rmtree(old, ignore_errors=True)
        path.rename(old)
    temporary.rename(path)
    sync_folder(path.parent)
    shutil.rmtree(old, ignore_errors=True)


# Describing: what cards say, for people; one model in full, or many in a table.


def describe_card(card: ModelCard) -> list[tuple[str, str]]:
    """The model, how it was trained, and how well it did, in pairs of a word and a value."""
    training = card.training
    rows = [
        ("model", ", ".join([card.title, _board(card), *card.remarks])),
        ("trained by", _trained(card)),
        ("seed", "" if training.seed is None else str(training.seed)),
        ("command", training.command),
        ("commit", (training.commit or "")[:12]),
        *((name, format_metric(metric)) for name, metric in card.metrics.items()),
    ]
    return [(word, value) for word, value in rows if value]


def model_to_json(path: Path) -> dict[str, Any]:
    """A model as a JSON object: what its card says, and how large it is."""
    saved = open_model(path)
    card = saved.card
    return {
        "name": path.name,
        "kind": card.kind,
        "title": card.title,
        "board_size": card.board_size,
        "weights": saved.count_weights(),
        "bytes": sum(file.stat().st_size for file in path.iterdir()),
        "training": card.training.model_dump(mode="json"),
        "metrics": {name: metric.model_dump(mode="json") for name, metric in card.metrics.items()},
    }


def list_models(paths: Sequence[Path]) -> Table:
    """Models as a table for 80 columns or more: what each is, how it was trained, and its chief metrics."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("name", "board", "weights", "model"):
        table.add_column(title, justify="right" if title == "weights" else "left", no_wrap=title != "model")
    for path in paths:
        saved = open_model(path)
        card = saved.card
        lines = [card.title, _trained(card), *_chief_metrics(card)]
        row = (path.name, _board(card), f"{saved.count_weights():,}", "\n".join(filter(None, lines)))
        table.add_row(*map(Text, row))
    return table


def _chief_metrics(card: ModelCard) -> list[str]:
    """Results of games; of a model that has played none, the first share that has an interval."""
    in_games = [name for name, metric in card.metrics.items() if metric.games]
    measured = [name for name, metric in card.metrics.items() if metric.low is not None and not metric.unit]
    return [f"{name}: {format_metric(card.metrics[name])}" for name in in_games or measured[:1]]


def _board(card: ModelCard) -> str:
    return f"{card.board_size}×{card.board_size}" if card.board_size else "any size"


def _trained(card: ModelCard) -> str:
    training = card.training
    counts = ((training.all_positions, "positions"), (training.games, "games"))
    amounts = [f"{count:,} {what}" for count, what in counts if count]
    seen = " of ".join(filter(None, (" from ".join(amounts), training.data)))
    return f"{seen} in {training.all_hours:.3g} hours" if training.all_hours else seen


def format_metric(metric: Metric) -> str:
    """A number, its interval and how many games or positions say so; shares as percentages.

    >>> format_metric(Metric(value=0.5, low=0.4, high=0.6, games=100, positions=2000))
    '50.0% (40.0–60.0% in 2,000 positions of 100 games)'
    """
    number = f"{metric.value:.1%}" if not metric.unit and 0 <= metric.value <= 1 else f"{metric.value:g} {metric.unit}"
    notes = [_interval(metric)] if metric.low is not None and metric.high is not None else []
    counts = ((metric.positions, "positions"), (metric.games, "games"))
    if said := " of ".join(f"{count:,} {what}" for count, what in counts if count):
        notes.append(f"in {said}")
    return number.rstrip() + (f" ({' '.join(notes)})" if notes else "")


def _interval(metric: Metric) -> str:
    low, high = metric.low or 0.0, metric.high or 0.0
    if metric.unit or not 0 <= metric.value <= 1:
        return f"{low:g}–{high:g}"
    return f"{100 * low:.1f}–{100 * high:.1f}%"

"""A model is a directory: ``model.json``, its card, and ``weights.safetensors``.

It is written under a temporary name, synced and renamed, so that readers find the whole model or none. Loading
refuses with a ``ModelError`` whatever does not match: another format, other features, a damaged or exchanged file,
weights that are no numbers.
"""

from __future__ import annotations

import hashlib
import shutil
from importlib import resources
from pathlib import Path
from typing import Final

from katachi.disk import sync_folder, write_atomically
from katachi.go.rules import Rules
from katachi.models.cards import FORMAT, ModelCard, ModelError, describe_model, parse_card
from katachi.models.linear import LinearModel
from katachi.models.weights import MAX_BYTES, format_weights, parse_weights

CARD: Final = "model.json"
WEIGHTS: Final = "weights.safetensors"
MAX_CARD_BYTES: Final = 1 << 20
SHIPPED: Final = Path(str(resources.files("katachi"))) / "pretrained"


def save_model(path: Path | str, model: LinearModel, card: ModelCard, *, replace: bool = False) -> None:
    """Write a model, whole or not at all; raises ModelError if the card is another's, or if the path is taken.

    ``replace`` puts it in the place of the model that is there. A kill between the two renames leaves the old model
    under a temporary name, where ``load_model`` finds it.
    """
    path = Path(path)
    _check_card(model, card)
    if path.exists() and not (replace and is_model(path)):
        raise ModelError(f"{path}: there is already something here")
    content = format_weights(model.weights)
    card = card.model_copy(update={"format": FORMAT, "weights_sha256": hashlib.sha256(content).hexdigest()})
    temporary = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        write_atomically(temporary / WEIGHTS, content)
        write_atomically(temporary / CARD, card.model_dump_json(indent=2) + "\n")
        _rename(temporary, path)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise ModelError(f"{path}: cannot be written: {error}") from None


def load_model(path: Path | str) -> tuple[LinearModel, ModelCard]:
    """Read a model and its card; raises ModelError, which begins with the path, if anything is wrong."""
    folder = _present(Path(path))
    try:
        card = parse_card(_read(folder / CARD, MAX_CARD_BYTES))
        content = _read(folder / WEIGHTS, MAX_BYTES)
        if hashlib.sha256(content).hexdigest() != card.weights_sha256:
            raise ModelError("its weights are not those that the card describes: one of the files was changed")
        features = card.build_features()
        weights = parse_weights(content, features.size, card.format)
        return LinearModel(features, weights, card.temperature), card
    except (ValueError, OSError) as error:  # a ModelError is a ValueError, and so is what the features refuse
        raise ModelError(f"{path}: {error}") from None


def is_model(path: Path) -> bool:
    """Whether a directory looks like a model."""
    return (path / CARD).is_file()


def shipped_models() -> list[Path]:
    """The directories of the models that come with katachi, in the order of the alphabet."""
    return sorted(path for path in SHIPPED.iterdir() if is_model(path))


def find_model(name: str) -> Path:
    """The directory of a shipped model, of the (first) model of a training run, or else the path itself.

    Raises ModelError if there is none of them.
    """
    if name and Path(name).name == name and is_model(SHIPPED / name):
        return SHIPPED / name
    path = Path(name)
    for place in (path, path / "model", path / "model-1"):
        if is_model(_present(place)):
            return place
    raise ModelError(f"{name}: there is no such model, neither shipped nor on disk")


def _check_card(model: LinearModel, card: ModelCard) -> None:
    own = describe_model(model, Rules())
    if (card.features, card.board_size, card.temperature) != (own.features, own.board_size, own.temperature):
        raise ModelError("the card describes another model: its features, board size or temperature differ")


def _read(path: Path, most: int) -> bytes:
    """A regular file that is not too large."""
    if not path.is_file():
        raise ModelError(f"there is no file {path.name}")
    if path.stat().st_size > most:
        raise ModelError(f"{path.name} is larger than {most} bytes")
    return path.read_bytes()


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

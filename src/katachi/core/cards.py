"""What the cards of all kinds of models share: how a model was trained, how well it did, and what refuses it.

A card is strict JSON and lies beside the files of its model. Each kind of model has a card of its own
(``shapes/model.py``, ``policy/evaluator.py``), which can build the model again; ``core/models.py`` lists them.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final, TypedDict

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError

Text = Annotated[str, StringConstraints(max_length=10_000)]
Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,64}$")]
ReadFile = Callable[[str], bytes]  # the content of a file of the model, which is the one that the card describes


class ModelError(ValueError):
    """A model that cannot be saved or loaded, with the reason in one sentence."""


class Strict(BaseModel):
    """Unknown keys, wrong types and numbers that are none are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Metric(Strict):
    """A measured number and its interval."""

    value: float
    low: float | None = None
    high: float | None = None
    unit: Text = ""
    games: int | None = Field(default=None, ge=1)  # that it was measured in
    positions: int | None = Field(default=None, ge=1)  # the same


class Training(Strict):
    """How a model came about: enough to make it again."""

    command: Text = ""
    commit: Text | None = None
    seed: int | None = None
    games: int = Field(default=0, ge=0)
    positions: int = Field(default=0, ge=0)  # seen, each as often as it was
    hours: float | None = Field(default=None, ge=0)
    data: Text = ""
    settings: dict[str, JsonValue] = {}
    first: Training | None = None  # of the model whose weights it began with

    @property
    def all_positions(self) -> int:
        """Those that its first model saw included."""
        return self.positions + (self.first.all_positions if self.first else 0)

    @property
    def all_hours(self) -> float:
        return (self.hours or 0.0) + (self.first.all_hours if self.first else 0.0)


def digest_file(content: bytes) -> str:
    """What a card says of a file, so that another one in its place is noticed."""
    return hashlib.sha256(content).hexdigest()


def explain(error: ValidationError) -> str:
    """The first thing that is wrong with a card or with options: where, and why."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where or 'all of it'}: {first['msg']}"


# Which program made a result: versions, platform, and the commit if it runs from its source tree.

_LIBRARIES: Final = ("numba", "numpy")


class Provenance(TypedDict):
    """What is needed to run the same program again."""

    katachi: str
    commit: str | None
    python: str
    platform: str
    libraries: dict[str, str]


def provenance() -> Provenance:
    """The program that is running now."""
    return Provenance(
        katachi=importlib.metadata.version("katachi"),
        commit=_commit(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        libraries={name: importlib.metadata.version(name) for name in _LIBRARIES},
    )


def format_program(made_by: Provenance) -> str:
    """``katachi 0.1.0, commit 1a2b3c4d5e``."""
    commit = made_by["commit"]
    if commit is None:
        return f"katachi {made_by['katachi']}"
    changed = " with changes" if commit.endswith("-dirty") else ""
    return f"katachi {made_by['katachi']}, commit {commit[:10]}{changed}"


def _commit() -> str | None:
    """The commit of the source tree, with ``-dirty`` if files differ from it; None outside one."""
    # Installed somewhere inside another project, that project's commit would be a lie: our files must be tracked.
    if _git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    return _git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None

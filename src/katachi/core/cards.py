"""Cards of models: what a model is, how it was trained, how well it did, and what refuses it.

A card is strict JSON and lies beside the files of its model. Each kind of model has a card of its own, a
``ModelCard`` that can build the model again; the registry finds it by its ``kind``. ``core/models.py`` keeps models
on disk.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import math
import platform
import subprocess
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError, field_validator

from katachi.core.registry import current_name

if TYPE_CHECKING:
    from katachi.core.contracts import Evaluator

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
    first: Training | None = None  # of the model whose weights it started with

    @property
    def all_positions(self) -> int:
        """Those that its first model saw included."""
        return self.positions + (self.first.all_positions if self.first else 0)

    @property
    def all_hours(self) -> float:
        return (self.hours or 0.0) + (self.first.all_hours if self.first else 0.0)


class ModelCard(Strict):
    """Everything about a model but its weights. A kind of model is a subclass with a ``kind`` and fields of its own.

    ``training`` and ``metrics`` are fields, ``files`` and ``board_size`` fields or properties of the subclass, which
    thereby fixes the order in which they are written.
    """

    options: ClassVar[type[Strict]] = Strict  # how a model of this kind may be asked; of none by default

    format: int
    kind: str

    if TYPE_CHECKING:
        training: Training
        metrics: dict[str, Metric]

        @property
        def files(self) -> Mapping[str, str]:
            """The files beside the card, and the SHA-256 of each."""

        @property
        def board_size(self) -> int | None:
            """The size of the boards that the model evaluates; None is any."""

    @field_validator("kind", mode="before")
    @classmethod
    def _rename(cls, kind: object) -> object:
        """Read the former name of a kind as the one of today."""
        return current_name("cards", kind) if isinstance(kind, str) else kind

    @property
    @abstractmethod
    def title(self) -> str:
        """What the model is, in a few words."""

    @property
    def remarks(self) -> list[str]:
        """What else there is to say about it."""
        return []

    @abstractmethod
    def count_weights(self, read: ReadFile) -> int:
        """How many numbers were learned."""

    @abstractmethod
    def build(self, read: ReadFile, options: Any) -> Evaluator:
        """The evaluator, with ``options`` of the kind's own class; raises ValueError if a file is not as it should be.

        ``read`` gives the content of a file.
        """

    def resize(self, read: ReadFile, size: int) -> tuple[ModelCard, dict[str, bytes]]:  # noqa: ARG002
        """The same model for boards of another size, with its files; raises ModelError if its kind has none."""
        raise ModelError(f"a {self.kind} model cannot be given another size")

    def parse_options(self, options: Mapping[str, Any]) -> Strict:
        """Read options of this kind of model; raises ModelError if there are none such."""
        for option in sorted(options.keys() - self.options.model_fields.keys()):
            raise ModelError(f"{option} is not an option of a {self.kind} model")
        try:
            return self.options.model_validate(dict(options))
        except ValidationError as error:
            raise ModelError(explain(error)) from None


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
    """``katachi 0.2.0, commit 1a2b3c4d5e``."""
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


# How far a share that was counted, or a mean that was measured, can be from the true one.
#
# Wilson, *Probable inference*, JASA 22 (1927).

CONFIDENCE: Final = 0.95


def wilson_interval(hits: float, count: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of a share, such as a win rate with draws as half a win; (0, 1) where nothing was counted.

    >>> [round(bound, 3) for bound in wilson_interval(8, 10)]
    [0.49, 0.943]
    """
    if count == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    share = hits / count
    center = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count * count))) / (1 + z2 / count)
    return max(0.0, min(share, center - half)), min(1.0, max(share, center + half))  # rounding must not leave it out


def mean_interval(
    values: Sequence[float] | NDArray[Any], confidence: float = CONFIDENCE, groups: NDArray[Any] | None = None
) -> tuple[float, float, float]:
    """The mean of so many independent values that it is normally distributed, and its interval.

    ``groups`` [N] says which values belong together, such as those of one game: then only the groups are independent,
    and the mean is the ratio of two sums over them (Cochran, *Sampling techniques*, 1977, chapter 6).

    >>> mean_interval([1.0, 3.0] * 50)  # doctest: +ELLIPSIS
    (2.0, 1.804..., 2.195...)
    """
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    half = NormalDist().inv_cdf((1 + confidence) / 2) * _standard_error(found - mean, groups)
    return mean, mean - half, mean + half


def _standard_error(deviations: NDArray[Any], groups: NDArray[Any] | None) -> float:
    sums: NDArray[Any] = deviations
    if groups is not None:
        sums = np.bincount(np.unique(groups, return_inverse=True)[1], weights=deviations)
    return math.sqrt(float((sums**2).sum())) / deviations.size


def effective_count(right: NDArray[np.bool_], groups: NDArray[Any]) -> float:
    """How many independent values would be as uncertain in their share as these, of which only groups are independent.

    With it ``wilson_interval`` is that of a share over groups. One value in each group counts one; values that say the
    same count no more than their groups do, and where all say the same nothing else can be known of them.

    >>> effective_count(np.array([True, False] * 4), np.repeat(range(4), 2))
    8.0
    >>> effective_count(np.repeat([True, False] * 2, 2), np.repeat(range(4), 2))
    4.0
    """
    there = np.unique(groups).size
    if there < 2 or right.all() or not right.any():
        return float(there)
    share = float(right.mean())
    if_independent = share * (1 - share) / right.size
    return float(right.size / max(1.0, _standard_error(right - share, groups) ** 2 / if_independent))


# Wald's sequential probability ratio test weighs two strengths of the first of two players, ``elo0`` and ``elo1``:
# their games are over when the logarithm of the ratio of the likelihoods leaves the bounds that the two kinds of error
# allow. A draw is half a win, which errs on the side of playing longer. (Wald, *Sequential tests of statistical
# hypotheses*, Annals of Mathematical Statistics 16, 1945)


class Decided(NamedTuple):
    """The strength that was accepted, after how many games, and the logarithm of the likelihood ratio then."""

    accepted: float
    games: int
    log_ratio: float


@dataclass(frozen=True, slots=True)
class Sprt:
    """The test; ``alpha`` is the chance to accept ``elo1`` where ``elo0`` is true, ``beta`` the reverse.

    >>> test = Sprt(elo0=0, elo1=100)
    >>> test.outcome([1.0] * 11), test.outcome([1.0] * 12)
    (None, Decided(accepted=100, games=12, log_ratio=2.96...))
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the logarithm of the ratio decides for ``elo0`` and for ``elo1``."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def outcome(self, scores: Iterable[float]) -> Decided | None:
        """What the scores of the first player decide, None while they do not."""
        p0, p1 = (1 / (1 + 10 ** (-elo / 400)) for elo in (self.elo0, self.elo1))
        won, lost = math.log(p1 / p0), math.log((1 - p1) / (1 - p0))
        low, high = self.bounds
        ratio = 0.0
        for games, score in enumerate(scores, 1):
            ratio += score * won + (1 - score) * lost
            if not low < ratio < high:
                return Decided(self.elo1 if ratio >= high else self.elo0, games, ratio)
        return None

"""Rows of a report: what a paper published, or what we set out to reach, beside what we measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Value = float | str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: ``what`` names its unit, ``run`` the folder below the run directory that it was measured in."""

    id: str
    what: str
    published: Value  # or wanted; None where there is no such figure
    ours: Value  # None where it could not be measured
    interval: tuple[float, float] | None
    run: str

    def to_json(self) -> dict[str, Any]:
        """The row as ``katachi reproduce --json`` prints it."""
        return asdict(self)

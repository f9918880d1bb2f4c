"""What can go wrong before or between the runs of an experiment."""

from __future__ import annotations


class ExperimentError(ValueError):
    """An experiment that cannot be begun or cannot go on, and why."""

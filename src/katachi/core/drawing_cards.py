"""What the cards of models say, for people: one model in full, or many in a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from katachi.core.cards import Metric
from katachi.core.kinds import ModelCard
from katachi.core.models import open_model


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


def tell_model(path: Path) -> dict[str, Any]:
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
    """Models as a table, a line for each."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("name", "kind", "board", "weights", "trained by", "metrics"):
        table.add_column(title, justify="right" if title == "weights" else "left", no_wrap=title != "metrics")
    for path in paths:
        saved = open_model(path)
        card = saved.card
        metrics = "\n".join(f"{name}: {format_metric(metric)}" for name, metric in card.metrics.items())
        row = (path.name, card.title, _board(card), f"{saved.count_weights():,}", _trained(card), metrics)
        table.add_row(*map(Text, row))
    return table


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

    >>> format_metric(Metric(value=0.5, low=0.4, high=0.6, games=100))
    '50.0% (40.0–60.0% in 100 games)'
    """
    number = f"{metric.value:.1%}" if not metric.unit and 0 <= metric.value <= 1 else f"{metric.value:g} {metric.unit}"
    notes = [_interval(metric)] if metric.low is not None and metric.high is not None else []
    counts = ((metric.games, "games"), (metric.positions, "positions"))
    notes += [f"in {count:,} {what}" for count, what in counts if count]
    return number.rstrip() + (f" ({' '.join(notes)})" if notes else "")


def _interval(metric: Metric) -> str:
    low, high = metric.low or 0.0, metric.high or 0.0
    if metric.unit or not 0 <= metric.value <= 1:
        return f"{low:g}–{high:g}"
    return f"{100 * low:.1f}–{100 * high:.1f}%"

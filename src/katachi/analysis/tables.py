"""The positions of an analysis as a table in Parquet, a row each; pyarrow is an extra.

Columns are those of the lines (``analysis/records.py``) that are numbers or texts; ``ownership`` is a list, and what
is listed there in full is here as the best move and as sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from katachi.analysis.journal import AnalysisError
from katachi.analysis.records import GameRecord, Line, PositionRecord
from katachi.core.disk import temporary_path

_ROWS: Final = 1000  # in memory at a time
COLUMNS: Final = {
    "game": "text",
    "source": "text",
    "size": "whole",
    "turn": "whole",
    "to_play": "text",
    "black_wins": "real",
    "black_lead": "real",
    "best": "text",
    "ownership": "reals",
    "number": "whole",
    "color": "text",
    "move": "text",
    "loss": "real",
    "points_lost": "real",
    "order": "whole",
    "black_gain": "real",
    "logit_change": "real",
}


def check_parquet() -> None:
    """Raise AnalysisError now if pyarrow is not installed, not after a night of work."""
    if find_spec("pyarrow") is None:
        raise AnalysisError('Parquet needs pyarrow: pip install "katachi[parquet]"')


def write_parquet(path: Path, lines: Iterable[Line]) -> None:
    """Write a table of positions, whole or not at all; raises AnalysisError if pyarrow is not installed."""
    check_parquet()
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, _types(pyarrow)[kind]) for name, kind in COLUMNS.items()])
    temporary = temporary_path(path)
    with parquet.ParquetWriter(temporary, schema) as writer:
        for rows in _chunks(_rows(lines)):
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    temporary.replace(path)


def _types(pyarrow: Any) -> dict[str, Any]:
    reals = pyarrow.list_(pyarrow.float32())
    return {"text": pyarrow.string(), "whole": pyarrow.int32(), "real": pyarrow.float64(), "reals": reals}


def _rows(lines: Iterable[Line]) -> Iterator[dict[str, Any]]:
    game: GameRecord | None = None
    for line in lines:
        if isinstance(line, GameRecord):
            game = line
        elif game is not None:
            yield _row(game, line)


def _row(game: GameRecord, position: PositionRecord) -> dict[str, Any]:
    row: dict[str, Any] = {"game": game.game, "source": game.source, "size": game.size}
    row |= {name: getattr(position, name) for name in ("turn", "to_play", "black_wins", "black_lead", "ownership")}
    row["best"] = position.candidates[0].move if position.candidates else None
    move = position.move
    if move is not None:
        row |= {name: getattr(move, name) for name in ("number", "color", "move", "loss", "points_lost", "order")}
        row["black_gain"] = None if move.territory is None else move.territory.black_gain
        row["logit_change"] = move.shapes[0].logit_after - move.shapes[0].logit_before if move.shapes else None
    return row


def _chunks(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    chunk: list[dict[str, Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == _ROWS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk

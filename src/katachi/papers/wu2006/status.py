"""Which stones are dead at the end: what playouts say and what networks say, against what the players agreed on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.models import load_dag_rnn
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.scoring import DEFAULT_PLAYOUTS, estimate_status
from katachi.papers.documents import format_rounded, format_value, share, table
from katachi.papers.experiment import Budget, Json, Row, Run, Scope, Table, do_runs
from katachi.papers.wu2006.nets import TITLES, Learned, describe_sets, learn, require_sets, shipped
from katachi.sgf.splits import Split
from katachi.territory.evaluator import Territory

NAME: Final = "status"
RUN: Final = f"wu2006/{NAME}"
GAMES: Final = {Budget.SMOKE: 4, Budget.HOUR: 300, Budget.FULL: 2000}


def measure(scope: Scope) -> Json:
    """Learn all networks, and ask them, those that ship, and playouts about every labeled set; ``--runs``: games."""
    sets = require_sets(scope)
    nets = [*(learn(kind, sets, scope) for kind in TITLES), *shipped()]
    count = scope.runs or GAMES[scope.budget]
    results: Json = {"data": sets.describe(), "sets": []}
    for games in sets.labeled_sets():
        runs = [_run(net, games, count) for net in nets]
        found = do_runs(runs, scope.folder, scope.workers, scope.watch)
        asked = [net.to_json() | counts for net, counts in zip(nets, found, strict=True)]
        results["sets"].append({"name": games.path.name, "size": games.only_size(), "asked": asked})
        scope.keep(results)
    return results


def _run(net: Learned, games: Dataset, count: int) -> Run:
    arguments = {"model": str(net.model), "data": str(games.path), "count": count}
    return Run(f"{net.key}-{games.digest[:8]}-of-{count}", _compare, arguments, count)


def _compare(model: str, data: str, count: int) -> Json:
    territory, games = load_dag_rnn(model)[0], Dataset.open(data)
    counts = {"games": 0, "chains": 0, "playouts": 0, "network": 0, "disagree": 0, "network of these": 0}
    for game in games.select(split=Split.TEST, labeled=True)[:count].tolist():
        counts["games"] += 1
        for name, number in compare(territory, games.end(game), games.labels[game]).items():
            counts[name] += number
    return counts


def compare(territory: Territory, board: Board, owned: NDArray[np.int8]) -> Json:
    """How many chains there are, how many of them both judge right, and who is right where they disagree.

    A chain is dead if its points are the enemy's in the end; by a network, if it expects that of them on the whole.
    """
    expected = territory.ownership([board])[0]
    by_playouts = set(estimate_status(board, DEFAULT_PLAYOUTS).dead)
    verdicts = [
        (owned[chain[0]] == -board[chain[0]], tuple(chain) in by_playouts, board[chain[0]] * expected[chain].mean() < 0)
        for chain in board.chains()
    ]
    truth, playouts, network = np.array(verdicts, dtype=np.bool_).reshape(-1, 3).T
    return {
        "chains": truth.size,
        "playouts": int((playouts == truth).sum()),
        "network": int((network == truth).sum()),
        "disagree": int((playouts != network).sum()),
        "network of these": int(((playouts != network) & (network == truth)).sum()),
    }


def rows(results: Json) -> list[Row]:
    """Of the chains about which they disagree, how many the network judges right."""
    return [_row(asked, games) for games in results["sets"] for asked in games["asked"] if asked["disagree"]]


def _row(asked: Json, games: Json) -> Row:
    found = share(asked["network of these"], asked["disagree"])
    what = f"{asked['title']} on {games['size']}×{games['size']}, where playouts disagree: chains judged right, %"
    name = f"{NAME}/{games['name']}/{asked['title'].strip('`')}"
    return Row(name, what, None, round(found.mean, 1), found.interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """A table for every set."""
    tables = "\n".join(_table(games) for games in results["sets"])
    return f"""
{describe_sets(results["data"])} When a game has ended, which chains are dead? {DEFAULT_PLAYOUTS} playouts say it where
Benson's theorem does not; a network says it by the ownership that it expects of a chain's points. Both are compared
with the labels of test games.

{tables}
"""


def _table(games: Json) -> str:
    title = f"`{games['name']}`, {games['size']}×{games['size']}"
    header = (
        title,
        "games",
        "chains",
        "playouts right, %",
        "network right, %",
        "they disagree",
        "network right then, %",
    )
    lines = []
    for asked in games["asked"]:
        both = (share(asked[who], max(1, asked["chains"])) for who in ("playouts", "network"))
        numbers = (format_value(asked[name]) for name in ("games", "chains"))
        then = format_rounded(share(asked["network of these"], asked["disagree"])) if asked["disagree"] else ""
        shares = (format_rounded(found, 2) for found in both)
        lines.append((asked["title"], *numbers, *shares, format_value(asked["disagree"]), then))
    return table(header, lines)


TABLE: Final = Table(NAME, "Dead stones: playouts and networks", measure, rows, section)

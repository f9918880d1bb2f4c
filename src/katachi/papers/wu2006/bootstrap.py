"""Pure bootstrap: networks that learn from their own games on 5×5 and 7×7 alone, and what that is worth elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.core.models import load_dag_rnn
from katachi.papers.documents import Estimate, format_rounded, format_value, mean_of_many, numbered, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.tournaments import Pair, distinct_games, play_tournaments, rate_games, write_players
from katachi.papers.wu2006.games import require_sets
from katachi.papers.wu2006.nets import NETS
from katachi.territory.territory_measuring import measure_territory
from katachi.territory.train import BootstrapTraining, train_bootstrap

NAME: Final = "bootstrap"
RUN: Final = f"wu2006/{NAME}"
SIZES: Final = (5, 7)
OPPONENTS: Final = ("random", "alp")
POSITIONS: Final = {Budget.SMOKE: 2_000, Budget.HOUR: 100_000, Budget.FULL: 1_000_000}
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 50, Budget.FULL: 400}
MEASURED: Final = {Budget.SMOKE: 50, Budget.HOUR: 1000, Budget.FULL: 5000}
_RANDOM_PLIES: Final = 2


def measure(scope: Scope) -> Json:
    """Learn on each size, play there, and ask about a labeled set if one is given; ``--runs`` is the games."""
    boards: Json = {}
    results: Json = {"data": require_sets(scope).describe() if scope.sets else None, "boards": boards}
    for size in SIZES:
        positions = POSITIONS[scope.budget]
        path = scope.folder.parent / NETS / f"bootstrap-{size}-{positions}"
        train_bootstrap(BootstrapTraining(size=size, positions=positions), path, lambda _: None, _COMMAND)
        boards[str(size)] = {
            "positions": positions,
            **_play(path / "model", size, scope),
            **_ask(path / "model", scope),
        }
        scope.keep(results)
    return results


_COMMAND: Final = "katachi reproduce wu2006"


def _play(model: Path, size: int, scope: Scope) -> Json:
    name = f"bootstrap-{size}"
    player: Json = {"kind": "search", "evaluator": {"model": str(model.resolve())}}
    specs: dict[str, Any] = {**write_players({name: player}, scope.folder / "players")}
    settings = TournamentSettings(
        players=specs | {opponent: opponent for opponent in OPPONENTS},
        scheme="gauntlet",
        size=size,
        rules="chinese",
        games=scope.runs or GAMES[scope.budget],
        jobs=scope.workers.jobs,
        openings=OpeningSettings(random_plies=_RANDOM_PLIES),
    )
    records: Sequence[GameRecord] = play_tournaments(
        {f"{name}-{settings.digest()[:8]}": settings}, scope.folder, scope.watch
    )
    rated = rate_games([name, *OPPONENTS], distinct_games(records), Anchor("random"))
    return {"pairs": [pair for pair in rated["pairs"] if pair["first"] == name]}


def _ask(model: Path, scope: Scope) -> Json:
    """What it knows of the labeled set's positions."""
    if not scope.sets:
        return {}
    known = measure_territory(load_dag_rnn(model)[0], require_sets(scope).labeled, MEASURED[scope.budget])
    found = mean_of_many(100 * known.shares)
    return {"known": {"mean": found.mean, "interval": found.interval}}


def rows(results: Json) -> list[Row]:
    """Games won on its own board, and points known on another."""
    found = []
    for size, board in results["boards"].items():
        for pair in (Pair(**pair) for pair in board["pairs"]):
            what = f"bootstrap on {size}×{size} against {pair.second}: won, %"
            name = f"{NAME}/{size}/{pair.second}"
            found.append(Row(name, what, None, round(pair.percent, 1), pair.percent_interval, RUN))
        if "known" in board:
            what = f"bootstrap on {size}×{size}: points known on {results['data']['size']}×{results['data']['size']}, %"
            known = board["known"]
            found.append(Row(f"{NAME}/{size}/known", what, None, round(known["mean"], 1), known["interval"], RUN))
    return found


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the table says it all
    """Ours, and what the paper says in words."""
    data = results["data"]
    known = "" if data is None else f"points known on {data['size']}×{data['size']}, %"
    header = (
        "learned on",
        "positions",
        *(f"won against {opponent}, %" for opponent in OPPONENTS),
        known or "points known",
    )
    return f"""
A network plays against itself, one ply deep, and learns who owned what in the end; nobody else's games are needed. The
paper tried this on 5×5 and 7×7 and calls the result encouraging but not sufficient: what was learned there is weak on
larger boards. Games begin after {_RANDOM_PLIES} random moves, and those that came out the same count once.

{table(header, (_line(size, board) for size, board in results["boards"].items()))}

Differences from the paper:

{numbered(_DIFFERENCES)}
"""


def _line(size: str, board: Json) -> tuple[str, ...]:
    won = {pair["second"]: Pair(**pair) for pair in board["pairs"]}
    shares = (
        f"{format_rounded(Estimate(won[name].percent, won[name].percent_interval))} of {won[name].games}"
        if name in won
        else ""
        for name in OPPONENTS
    )
    known = board.get("known")
    told = "" if known is None else format_rounded(Estimate(known["mean"], tuple(known["interval"])))
    return f"{size}×{size}", format_value(board["positions"]), *shares, told


_DIFFERENCES: Final = (
    "The paper says neither how moves were drawn nor how long it learned. Ours are drawn in proportion to e^E, where E "
    "is the area that they promise.",
    "Propensities would be knowledge of other games: they stay 0.",
)

TABLE: Final = Table(NAME, "Pure bootstrap on small boards", measure, rows, section)

"""What the parts of the tree search are worth: it plays itself without a part, or with one more.

All have the same number of simulations; what a part costs in time is told beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import TournamentSettings
from katachi.papers.documents import COLORS, format_estimate, label_axes, plot, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.player_files import write_players
from katachi.papers.tournaments import Pair, describe_games, play_rounds, rate_games, rounds
from katachi.search.playouts import UNIFORM
from katachi.search.settings import PlayoutSettings

NAME: Final = "ablation"
RUN: Final = f"search/{NAME}"
SIZE: Final = 9
FULL: Final = Anchor("full")
MODEL: Final = "shapes-9"
VALUE_SHARE: Final = 0.25
SHAPE_CHOICES: Final = 4  # random moves among which shapes choose
TD_SIMULATIONS: Final = 200
SIMULATIONS: Final = {Budget.SMOKE: 20, Budget.HOUR: 1_000, Budget.FULL: 1_000}
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}


@dataclass(frozen=True, slots=True)
class Part:
    """A part that the full player has and the other has not (−), or the other way round (+)."""

    sign: str
    title: str
    search: Json  # how the other's search table differs
    model: str | None = None  # what it judges with

    @property
    def is_added(self) -> bool:
        return self.sign == "+"

    def player(self, simulations: int) -> Json:
        """The spec of the other."""
        evaluator = {"evaluator": {"model": self.model}} if self.model else {}
        search = self.search if "kind" in self.search else {"kind": "mcts", "threads": 1, **self.search}
        return {"kind": "search", **evaluator, "search": search, "limit": {"simulations": simulations}}


def _playout(title: str, name: str) -> Part:
    """A switch of the playouts, turned."""
    is_on = bool(getattr(PlayoutSettings(), name))
    return Part("−" if is_on else "+", title, {"playouts": {name: not is_on}})


PARTS: Final = {
    "rave": Part("−", "RAVE", {"rave": 0.0}),
    "patterns": Part(
        "−", "patterns, in playouts and priors", {"pattern_priors": False, "playouts": {"patterns": False}}
    ),
    "pattern-priors": Part("−", "pattern priors", {"pattern_priors": False}),
    "ladder-priors": Part("−", "ladders read for the priors", {"ladder_priors": False}),
    "captures": _playout("captures in playouts", "captures"),
    "escapes": _playout("escapes in playouts", "escapes"),
    "self-atari": _playout("avoiding self-atari in playouts", "self_atari"),
    "nakade": _playout("nakade in playouts", "nakade"),
    "replies": _playout("last good reply in playouts", "replies"),
    "informed": Part("−", "informed playouts: uniform ones instead", {"playouts": UNIFORM.model_dump()}),
    "shape-prior": Part("+", "shape prior, at once", {"priors": "synchronous"}, MODEL),
    "shape-prior-delayed": Part("+", "shape prior, with delay", {"priors": "delayed"}, MODEL),
    "shape-value": Part(
        "+", f"shape value, {VALUE_SHARE:.0%} of a leaf", {"priors": "none", "value_share": VALUE_SHARE}, MODEL
    ),
    "shape-playouts": Part(
        "+", "shapes choose moves in playouts", {"priors": "none", "playouts": {"shapes": SHAPE_CHOICES}}, MODEL
    ),
    "td-prior": Part(
        "+",
        f"shape prior, adapted by {TD_SIMULATIONS} simulations of TD search",
        {"priors": "synchronous", "td_simulations": TD_SIMULATIONS},
        MODEL,
    ),
    "td": Part("+", "TD search in the place of the tree", {"kind": "td"}, MODEL),
}


def measure(scope: Scope) -> Json:
    """Play the full player against each of the others, from two random moves; ``--runs`` is the games of each pair."""
    simulations = SIMULATIONS[scope.budget]
    games = dict.fromkeys(PARTS, scope.runs or GAMES[scope.budget])
    full = Part("", "", {})
    players = {FULL.player: full.player(simulations)} | {name: part.player(simulations) for name, part in PARTS.items()}
    template = TournamentSettings(
        players=write_players(players, scope.folder / "players"), scheme="gauntlet", size=SIZE, jobs=scope.workers.jobs
    )

    def count(records: Sequence[GameRecord]) -> Json:
        counted = describe_games(records) | rate_games([*PARTS, FULL.player], records, FULL)
        return {"simulations": simulations} | counted

    return play_rounds(rounds(template, games), scope, count)


def worth(results: Json, name: str) -> tuple[float, float, float]:
    """What a part is worth in Elo: value, low and high; above 0 it helps."""
    rating, low, high = results["ratings"][name]
    return (rating, low, high) if PARTS[name].is_added else (-rating, -high, -low)


def _measured(results: Json) -> list[str]:
    return [name for name in PARTS if name in results["ratings"]]


def rows(results: Json) -> list[Row]:
    """What every part is worth."""
    return [_row(name, results) for name in _measured(results)]


def _row(name: str, results: Json) -> Row:
    value, low, high = worth(results, name)
    what = f"{PARTS[name].sign} {PARTS[name].title}: worth in Elo"
    return Row(f"{NAME}/{name}", what, None, value, (low, high), RUN)


def section(results: Json, pictures: Path) -> str:
    """How it was played, what the parts are worth as a picture, and the scores."""
    _draw(results, pictures / f"{NAME}.svg")
    return f"""
{results["games"]:,} games on {SIZE}×{SIZE} at {results["simulations"]:,} simulations a move, each opening of two random
moves played with both colors; {results["distinct"]:,} of them differ. The full player has the default settings. It
plays itself without a part (−), or with one more (+); a part that helps has a positive number either way. The
shapes are those of `{MODEL}`. Time is what the other took for a move, as a multiple of the full player's.

![What each part is worth in Elo](search/{NAME}.svg)

{_table(results)}
"""


def _table(results: Json) -> str:
    header = ("part", "games", "the other won, %", "worth in Elo (95 %)", "time, ×")
    pairs = {pair["first"]: Pair(**pair) for pair in results["pairs"]}
    lines = []
    for name in _measured(results):
        part, pair = PARTS[name], pairs[name]
        value, *interval = worth(results, name)
        won = format_estimate(round(pair.percent, 1), [round(bound, 1) for bound in pair.percent_interval])
        time = results["seconds"][name] / max(results["seconds"][FULL.player], 1e-9)
        lines.append(
            (f"{part.sign} {part.title}", str(pair.games), won, format_estimate(value, interval), f"{time:.2f}")
        )
    return table(header, lines)


def _draw(results: Json, path: Path) -> None:
    names = sorted(_measured(results), key=lambda name: worth(results, name))
    found = [worth(results, name) for name in names]
    values = [value for value, _, _ in found]
    errors = ([value - low for value, low, _ in found], [high - value for value, _, high in found])
    with plot(path, columns=2, height=1.2 + 0.3 * len(names)) as (labels, axes):
        labels.set_axis_off()  # room for the names of the bars
        axes.barh(range(len(names)), values, xerr=errors, color=COLORS[2], capsize=3, label="95 % interval")
        label_axes(axes, "What each part is worth", "Elo", "")
        axes.set_yticks(range(len(names)), [f"{PARTS[name].sign} {PARTS[name].title}" for name in names])


TABLE: Final = Table(NAME, "What the parts are worth", measure, rows, section)

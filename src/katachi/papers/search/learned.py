"""Search with what was learned: what its parts are worth, networks by generation, and whether reviews hold."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Final

import numpy as np

from katachi.analysis.batches import DEFAULT_PLAYER, JudgeSettings, choose_depths, look_first
from katachi.analysis.explaining import evaluate_turn, link_turns
from katachi.analysis.judges import turns_of
from katachi.analysis.records import LEAST_MISTAKE, MoveRecord, PositionRecord, find_mistakes, moves_of_game
from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.core.models import find_model
from katachi.core.training import METRICS, read_values
from katachi.data.dataset import Dataset
from katachi.go.points import MAX_SIZE
from katachi.papers.documents import (
    COLORS,
    NOTHING,
    Estimate,
    estimate,
    format_estimate,
    format_rounded,
    format_value,
    label_axes,
    plot,
    share,
    table,
    with_errors,
)
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, do_runs, planned, seed_of
from katachi.papers.search.positions import choose_games, read_game
from katachi.papers.tournaments import (
    Pair,
    describe_games,
    format_won,
    games_of,
    open_games,
    play_rounds,
    rate_games,
    rounds,
    write_players,
)
from katachi.players.specs import find_spec
from katachi.sgf import SgfGame, game_to_tree
from katachi.sgf.files import Split
from katachi.sgf.record import UNKNOWN

# What parts of a search with a network are worth: the search without one of them, or with it, against the search as it
# is, at a few simulations, at many, and at equal time.

SIZE: Final = 9
FULL: Final = "strong-9"
LIMITS: Final[dict[str, Json]] = {
    "25 simulations": {"simulations": 25},
    "500 simulations": {"simulations": 500},
    "1 s": {"seconds": 1.0},
    "10,000 simulations": {"simulations": 10_000},
}
LIMITS_OF: Final = {Budget.SMOKE: 1, Budget.HOUR: 3, Budget.FULL: 4}  # how many of them are measured
PART_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 100}
PARTS: Final[dict[str, Json]] = {  # how the others differ from the search as it is
    "without the network: patterns and playouts": {"evaluator": None, "search": {"kind": "mcts", "threads": 1}},
    "without search: the network alone": {"search": {"kind": "policy"}},
    "values by playouts alone": {"value_share": 0.0},
    "half of the values by playouts": {"value_share": 0.5},
    "priors with delay, the first ones waited for": {"priors": "delayed", "batch": 16},
    "priors with delay, none waited for": {"priors": "delayed", "batch": 16, "waits_for": 0},
    "leaves evaluated one at a time": {"at_once": 1},
    "without the score": {"score_share": 0.0},
    "half of the exploration": {"exploration": 0.35},
    "twice the exploration": {"exploration": 1.4},
    "with RAVE": {"rave": 200.0},
}


def part_players(limit: str) -> dict[str, Json]:
    """The search as it is, and the others, each on one thread and held to a limit."""
    values: Json = find_spec(FULL).on(SIZE).model_dump(mode="json", exclude_unset=True)["boards"][str(SIZE)]
    search = {**values["search"], "threads": 1}
    full = {**values, "kind": "search", "search": search, "limit": LIMITS[limit]}
    others = {}
    for name, change in PARTS.items():
        other = full if "evaluator" not in change else {key: full[key] for key in full if key != "evaluator"}
        others[name] = {**other, "search": change.get("search", search | change)}
    return {f"{name}, {limit}": player for name, player in {FULL: full, **others}.items()}


class NetworkParts(Table):
    name = "network"
    title = "What the parts of a search with a network are worth"

    def measure(self, scope: Scope) -> Json:
        """Play the search as it is against each of the others, at each limit; ``--runs``: games of each pair."""
        games = scope.runs or PART_GAMES[scope.budget]
        tournaments: dict[str, TournamentSettings] = {}
        for number, limit in enumerate(list(LIMITS)[: LIMITS_OF[scope.budget]]):
            files = write_players(part_players(limit), scope.folder / "players" / str(number))
            template = TournamentSettings(players=files, scheme="gauntlet", size=SIZE, jobs=scope.workers.jobs)
            found = rounds(template, {name: games for name in files if not name.startswith(FULL)})
            tournaments |= {f"{number}-{folder}": settings for folder, settings in found.items()}

        def count(records: Sequence[GameRecord]) -> Json:
            players = sorted({side.name for record in records for side in (record.black, record.white)})
            rated: Json = {"pairs": [], "ratings": {}}
            for limit in LIMITS:
                own = [record for record in records if record.black.name.endswith(f", {limit}")]
                if own:
                    here = [name for name in players if name.endswith(f", {limit}")]
                    found = rate_games(here, own, Anchor(f"{FULL}, {limit}"))
                    rated = {"pairs": rated["pairs"] + found["pairs"], "ratings": rated["ratings"] | found["ratings"]}
            return describe_games(records) | rated

        return play_rounds(tournaments, scope, count)

    def _pairs(self, results: Json) -> dict[tuple[str, str], Pair]:
        """What the others won, by their names and limits."""
        found = {}
        for pair in (Pair(**pair) for pair in results["pairs"]):
            other = pair.second if pair.first.startswith(FULL) else pair.first
            turned = Pair(pair.second, pair.first, pair.games, pair.games - pair.wins - pair.draws, pair.draws)
            part = next(name for name in PARTS if other.startswith(name))
            found[part, other.removeprefix(f"{part}, ")] = pair if other == pair.first else turned
        return found

    def rows(self, results: Json) -> Iterator[Row]:
        """What every other won."""
        for (part, limit), pair in self._pairs(results).items():
            where = f"{self.name}/{list(PARTS).index(part)}/{list(LIMITS).index(limit)}"
            games = planned(results, PART_GAMES)
            yield Row.measured(where, f"{part}, at {limit}: won, %", None, pair.won, planned=games)

    def section(self, results: Json) -> str:
        """How it was played, and the scores."""
        pairs = self._pairs(results)
        limits = [limit for limit in LIMITS if any(found == limit for _, found in pairs)]
        lines = [
            (part, *(format_won(pairs.get((part, limit))) for limit in limits))
            for part in PARTS
            if any((part, limit) in pairs for limit in limits)
        ]
        return f"""
`{FULL}` on {SIZE}×{SIZE} against itself with one thing changed, what the other won in percent: below 50 the change
costs strength. Each on one thread, held to so many simulations or to equal time, {results["games"]:,} games, each
opening of two random moves played with both colors; {results["distinct"]:,} of them differ.

{table(("changed", *limits), lines)}
"""


# Expert iteration by generation: how strong its networks are without search, and what more hours promise.

GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 40, Budget.FULL: 200}
FIRST: Final = Anchor("generation 0", 0.0)
_LEAST: Final = 3  # generations that a curve needs


def read_run(folder: Path) -> list[Json]:
    """What a run of ``katachi train expert`` measured by generation; raises ExperimentError if it is not one."""
    try:
        lines = [json.loads(line) for line in (folder / METRICS).read_text(encoding="utf-8").splitlines()]
    except OSError:
        raise ExperimentError(f"{folder} is not a run of katachi train expert: give one by --model") from None
    if not lines or "generation" not in lines[0]:
        raise ExperimentError(f"{folder} has no generation yet")
    return lines


def read_history(folder: Path) -> list[Json]:
    """All generations that led to a model, one run after another: numbers, hours and Elo continue from run to run."""
    lines = [json.loads(line) for line in (folder / METRICS).read_text(encoding="utf-8").splitlines()]
    first = [line["seconds"] for line in lines if "generation" not in line][-1:] or [0.0]
    found: list[Json] = []
    best = before = 0.0  # Elo of the best network, and of that with which its run began
    games = 0  # of former runs
    for line in (line for line in lines if "generation" in line):
        if line["generation"] == 1:
            before, games = best, found[-1]["games"] if found else 0
        rated = {key: round(line[key] + before, 1) for key in ("elo", "elo_low", "elo_high")}
        counted = {"generation": len(found) + 1, "games": games + line["games"], "seconds": line["seconds"] - first[0]}
        found.append({**line, **rated, **counted})
        best = rated["elo"] if line["is_better"] else best
    return found


def promise_of_doubling(hours: Sequence[float], elo: Sequence[float]) -> float | None:
    """How much Elo rises when hours double, by a line through the later half of them; None of too few."""
    chosen = [(np.log2(hour), value) for hour, value in zip(hours, elo, strict=True) if hour > 0]
    chosen = chosen[len(chosen) // 2 :]
    if len(chosen) < _LEAST:
        return None
    doublings, ratings = np.array(chosen, dtype=np.float64).T
    return float(np.polyfit(doublings, ratings, 1)[0])


class Generations(Table):
    name = "generations"
    title = "Expert iteration by generation"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Let the networks that were better than all before them play each other; ``--model`` is the run.

        Of a model that has come out of such runs, the matches by which its networks were chosen are shown.
        """
        if len(scope.models) != 1:
            raise ExperimentError("this table is about a run of katachi train expert: give it by --model")
        folder = Path(scope.models[0])
        if not folder.exists():
            return self._remember(find_model(scope.models[0]))
        lines, settings = read_run(folder), read_values(folder / "config.toml")
        kept = [0, *(line["generation"] for line in lines if line["is_better"])]
        files = write_players(
            {f"generation {number}": self._player(folder, number, settings) for number in kept},
            scope.folder / "players",
        )
        template = TournamentSettings(
            players=files,
            scheme="ladder",
            size=settings["size"],
            jobs=scope.workers.jobs,
            openings=OpeningSettings(random_plies=4),
        )
        hours = {f"generation {line['generation']}": line["seconds"] / 3600 for line in lines}

        def count(records: Sequence[GameRecord]) -> Json:
            counted = describe_games(records) | rate_games(list(files), records, FIRST)
            return counted | {"size": settings["size"], "hours": {FIRST.player: 0.0, **hours}, "lines": lines}

        return play_rounds(rounds(template, dict.fromkeys(files, scope.runs or GAMES[scope.budget])), scope, count)

    def _remember(self, folder: Path) -> Json:
        """What the matches of all generations said, without the networks."""
        lines = read_history(folder)
        if not lines:
            raise ExperimentError(f"{folder.name} did not come out of katachi train expert")
        better = {f"generation {line['generation']}": line for line in lines if line["is_better"]}
        return {
            "games": 0,
            "size": json.loads((folder / "model.json").read_bytes())["config"]["size"],
            "ratings": {
                FIRST.player: [0.0] * 3,
                **{name: [line["elo"], line["elo_low"], line["elo_high"]] for name, line in better.items()},
            },
            "hours": {FIRST.player: 0.0, **{name: line["seconds"] / 3600 for name, line in better.items()}},
            "lines": lines,
        }

    def _player(self, folder: Path, number: int, settings: Json) -> Json:
        place = f"generation-{number:03d}/{'learning/' if number else ''}model"
        rank = {"rank": settings["first_rank"]} if number == 0 and settings.get("first_rank") else {}
        evaluator = {"model": str((folder / place).resolve()), **rank}
        return {"kind": "search", "evaluator": evaluator, "search": {"kind": "policy"}}

    def _curve(self, results: Json) -> list[tuple[str, float, list[float | None]]]:
        """Each network in the order of its making: name, hours, rating with bounds."""
        order = sorted(results["ratings"], key=lambda name: int(name.split()[1]))
        return [(name, results["hours"][name], results["ratings"][name]) for name in order]

    def rows(self, results: Json) -> Iterator[Row]:
        """The rating of each network."""
        for name, hours, (rating, low, high) in self._curve(results):
            how = "without search" if results["games"] else "by its match"
            what = f"{name}, after {hours:.1f} hours: Elo {how}"
            games = {f"generation {line['generation']}": line["match_games"] for line in results["lines"]}
            n = games_of(results, name) if results["games"] else games.get(name)
            yield Row(f"{self.name}/{name.split()[1]}", what, None, rating, (low, high), n=n)

    def section(self, results: Json) -> str:
        """How it was played, the curve, and its points."""
        curve = self._curve(results)
        rated = [(hours, rating) for _, hours, (rating, *_) in curve if rating is not None]
        rise = promise_of_doubling([hours for hours, _ in rated], [rating for _, rating in rated])
        promise = "" if rise is None else f" By the later half of the curve, twice the hours promise {rise:+.0f} Elo."
        won = {f"generation {line['generation']}": line for line in results["lines"]}
        lines = [
            (
                name,
                f"{hours:.2f}",
                format_estimate(rating[0], rating[1:]),
                f"{100 * won[name]['score']:.0f} of {won[name]['match_games']}" if name in won else "",
            )
            for name, hours, rating in curve
        ]
        last = results["lines"][-1]
        wrong = sum(line["wrong_to_resign"] for line in results["lines"])
        checked = sum(line["checked_to_resign"] for line in results["lines"])
        elo = "Elo without search (95 %)" if results["games"] else "Elo by its match (95 %)"
        header = ("network", "hours", elo, "won in its match, %")
        played = (
            f"""Here they play without search, each against the two that are nearest, {results["games"]:,} games from
four random moves, each opening with both colors; {results["distinct"]:,} games differ."""
            if results["games"]
            else """Elo is that of the network before and what the match says, whose interval stands here; the errors of
a chain of matches add up, and matches that end by a sequential test flatter who wins them."""
        )
        return f"""
The networks of `katachi train expert` on {results["size"]}×{results["size"]} that were better than the best before
them: {last["generation"]} generations, {format_value(last["games"])} games and {last["seconds"] / 3600:.1f} hours in
all. {played} The last column is the match by search that let a network take the place of the one before. Of {checked}
games that one side would have given up and that were played on, {wrong} were won by that side.{promise}

![Elo by hours](search/{self.name}.svg)

{table(header, lines)}
"""

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the curve."""
        curve = self._curve(results)
        values, errors = with_errors(rating for *_, rating in curve)
        with plot(pictures / f"{self.name}.svg") as (axes,):
            hours = [hours for _, hours, _ in curve]
            axes.errorbar(hours, values, errors, color=COLORS[4], marker="o", capsize=3, label="95 % interval")
            title = "Elo of the network without search" if results["games"] else "Elo by the match of each network"
            label_axes(axes, title, "hours", "Elo above the first network")


# Whether a review can be trusted: whose moves it calls mistakes, and whether a second one and a longer search agree.
#
# Games of people are reviewed as ``katachi analyze`` does without options, twice with different seeds. A claim holds if
# a search that is twenty times as long, before and after the move, finds at least half of the least mistake lost.
# Beside what is claimed stands the plain difference of the win rates before and after a move.

REVIEWED: Final = {Budget.SMOKE: 1, Budget.HOUR: 20, Budget.FULL: 50}  # of each set
REVIEWED_ON_19: Final = {Budget.SMOKE: 1, Budget.HOUR: 5, Budget.FULL: 25}  # where a game takes ten times as long
REVIEW_SIMULATIONS: Final = {Budget.SMOKE: 8, Budget.HOUR: 200, Budget.FULL: 200}
LONGER: Final = 20  # times as many simulations
TOP: Final = 5  # claims of a game that are looked at again
_GRADES: Final = (
    (-100, -19, "below 20k"),
    (-19, -14, "20k to 16k"),
    (-14, 1, "15k to 1k"),
    (1, 5, "1d to 4d"),
    (5, 7, "5d and 6d"),
    (7, 9, "7d and 8d"),
    (9, 100, "9d and above"),
)
_WANTED: Final = {"most probable": "≤ 2", "again": "≥ 80", "holds": "≥ 85"}
_TITLES: Final = {
    "most probable": "the network’s own first choice",
    "again": "called so by a second review",
    "holds": "held by a search 20 times as long",
}

Claims = Callable[[Sequence[PositionRecord]], list[MoveRecord]]


def _plain_losses(positions: Sequence[PositionRecord]) -> list[MoveRecord]:
    lost = [(move.loss or 0.0, move) for move in moves_of_game(positions)]
    return [move for loss, move in sorted(lost, key=lambda pair: -pair[0]) if loss >= LEAST_MISTAKE]


CRITERIA: Final[Mapping[str, Claims]] = {"claimed": find_mistakes, "plain difference": _plain_losses}


def review_game(number: int, simulations: int, seed: int, *, data: Path) -> Json:
    """What two reviews of a game claim, how much of it a longer search holds, and who played."""
    dataset = Dataset.open(data)
    record = SgfGame(game_to_tree(read_game(dataset, number)))
    start = time.process_time()
    first, second = (list(accumulate(_review(record, simulations, seed + n), link_turns)) for n in range(2))
    seconds = (time.process_time() - start) / 2
    turns = {position.move.number: position.turn for position in first if position.move is not None}
    claimed = {name: claims(first) for name, claims in CRITERIA.items()}
    asked = {turns[move.number] - back for move in claimed["claimed"][:TOP] for back in (0, 1)}
    longer = {found.turn: found for found in _look(record, LONGER * simulations, seed + 2, asked)}
    held = [_holds(move, longer, turns[move.number]) for move in claimed["claimed"][:TOP]]
    again = {name: {move.number for move in claims(second)} for name, claims in CRITERIA.items()}
    rows = dataset.games[number]
    return {
        "seconds": round(seconds, 1),
        "criteria": {
            name: {
                "claims": len(moves),
                "most probable": sum(move.is_most_probable for move in moves),
                "top": len(moves[:TOP]),
                "again": sum(move.number in again[name] for move in moves[:TOP]),
                **({"holds": sum(held)} if name == "claimed" else {}),
            }
            for name, moves in claimed.items()
        },
        "sides": [
            {
                "grade": int(rows[f"{color}_grade"]),
                "moves": sum(move.color == color for move in moves_of_game(first)),
                **{name: sum(move.color == color for move in moves) for name, moves in claimed.items()},
            }
            for color in ("black", "white")
        ],
    }


def _review(record: SgfGame, simulations: int, seed: int) -> Iterator[PositionRecord]:
    """The positions of a game as ``katachi analyze`` sees them."""
    settings = JudgeSettings(simulations=simulations, seed=seed)
    turns = [turn._replace(game=turn.game.copy()) for turn in turns_of(record)]
    with settings.judges(record.size, "", 0) as judges:
        depths = choose_depths(list(look_first(turns, judges)), judges.limit_in_force, len(turns))
    for turn, depth in zip(turns, depths, strict=True):
        with settings.judges(record.size, "", turn.turn, depth) as judges:
            yield evaluate_turn(judges, turn, in_full=depth is None)


def _look(record: SgfGame, simulations: int, seed: int, wanted: set[int]) -> Iterator[PositionRecord]:
    """Some positions of a game, searched in full."""
    settings = JudgeSettings(simulations=simulations, seed=seed)
    for turn in turns_of(record):
        if turn.turn in wanted:
            with settings.judges(record.size, "", turn.turn) as judges:
                yield evaluate_turn(judges, turn)


def _holds(move: MoveRecord, longer: Mapping[int, PositionRecord], turn: int) -> bool:
    before, after = longer[turn - 1].black_wins, longer[turn].black_wins
    sign = 1 if move.color == "black" else -1
    return before is not None and after is not None and sign * (before - after) >= LEAST_MISTAKE / 2


class Review(Table):
    name = "review"
    title = "Reviews of people’s games"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Review test games of every ``--data``; ``--runs`` is the number of games of each."""
        if not scope.sets:
            raise ExperimentError("this table reviews games of people: name sets of them, --data SET")
        found: Json = {}
        for path in scope.sets:
            games = open_games(path, [Split.TEST])
            wanted = REVIEWED if games.size < MAX_SIZE else REVIEWED_ON_19
            chosen = choose_games(games, scope.runs or wanted[scope.budget])
            simulations = REVIEW_SIMULATIONS[scope.budget]
            runs = [
                Run(
                    f"{games.digest}-{number}-{simulations}",
                    partial(review_game, data=games.dataset.path),
                    {"number": number, "simulations": simulations, "seed": seed_of(self.name, number)},
                    1,
                )
                for number in chosen
            ]
            reviews = do_runs(runs, scope.folder, scope.workers, scope.watch)
            found[games.dataset.path.name] = {"size": games.size, "simulations": simulations, "games": list(reviews)}
        return {"player": DEFAULT_PLAYER.split()[0], "sets": found}

    def rows(self, results: Json) -> Iterator[Row]:
        """What shares of the claims are."""
        for name, found in results["sets"].items():
            for measure, wanted in _WANTED.items():
                shown = _share(found["games"], "claimed", measure)
                what = f"{name}, {found['size']}×{found['size']}: moves called mistakes, {_TITLES[measure]}, %"
                yield Row.measured(f"{self.name}/{name}/{measure}", what, wanted, shown)

    def section(self, results: Json) -> str:
        """How it was measured, what became of the claims, and mistakes by rank."""
        sets = results["sets"]
        return f"""
Test games of people, reviewed as `katachi analyze` does, twice with different seeds. Of the {TOP} biggest mistakes of a
game it is asked whether the second review calls them so too, and whether a search {LONGER} times as long finds at least
half of the least mistake ({LEAST_MISTAKE:.0%} of the chance to win) lost. *Plain difference* takes every move for a
mistake after which the win rate is that much lower. Shares are of moves; intervals take them for independent. The last
column is processor time for one review of a game.

{self._claims(sets)}

Mistakes for 100 moves, by the rank of who moved; intervals are over players:

{self._ranks(sets)}
"""

    def _claims(self, sets: Json) -> str:
        lines = []
        for name, found in sets.items():
            for criterion in CRITERIA:
                mean = np.mean([game["criteria"][criterion]["claims"] for game in found["games"]])
                shares = (_share(found["games"], criterion, measure) for measure in _TITLES)
                cells = (NOTHING if each is None else format_rounded(each) for each in shares)
                where = f"{name}, {found['size']}×{found['size']}"
                seconds = [game["seconds"] for game in found["games"] if "seconds" in game]  # earlier results have none
                took = f"{np.mean(seconds):.0f}" if seconds else NOTHING
                lines.append((where, criterion, str(len(found["games"])), f"{mean:.1f}", *cells, took))
        titles = (f"{title}, %" for title in _TITLES.values())
        return table(("games", "mistakes by", "n", "a game", *titles, "s"), lines)

    def _ranks(self, sets: Json) -> str:
        lines = []
        for name, found in sets.items():
            for low, high, title in _GRADES:
                sides = [side for game in found["games"] for side in game["sides"]]
                ranked = [side for side in sides if side["moves"] and side["grade"] != UNKNOWN]
                own = [side for side in ranked if low <= side["grade"] < high]
                rates = ([100 * side[criterion] / side["moves"] for side in own] for criterion in CRITERIA)
                if own:
                    lines.append((name, title, str(len(own)), *(format_rounded(estimate(each)) for each in rates)))
        return table(("games", "rank", "players", *CRITERIA), lines)


def _share(games: Sequence[Json], criterion: str, measure: str) -> Estimate | None:
    """Of all claims, or of the biggest that were looked at again; None if there are none."""
    counts = [game["criteria"][criterion] for game in games]
    total = sum(count["claims" if measure == "most probable" else "top"] for count in counts)
    return share(sum(count[measure] for count in counts), total) if total and measure in counts[0] else None

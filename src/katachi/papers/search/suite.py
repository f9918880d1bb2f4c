"""Positions with one clearly best move: how they are found, and how many of them a player solves.

The positions come from games of our own players against themselves. One is kept if two different analysts, after a long
search each, agree on its best move; if both lose a good part of their win rate in a second search without that move;
and if the patterns of the playouts would not play it first. The suite is a collection of game records, each of which
ends with the answer:

```
(;GM[1]SZ[9]KM[7.5]…;B[ee];W[cc];B[gd]C[…])    B[gd] is the best move after two
```
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from katachi.arena.match import Conditions, RandomOpenings, play_game
from katachi.core.cards import mean_interval
from katachi.core.contracts import Ban, Limit, Player, SelectivePlayer
from katachi.core.disk import write_atomically
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, format_vertex
from katachi.go.rules import Rules
from katachi.papers.documents import Estimate, format_rounded, share, table
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, do_runs, seed_of
from katachi.papers.search.strength import player
from katachi.papers.tournaments import build_player, held, named_players, player_values
from katachi.players.specs import find_spec
from katachi.search.one_ply import TreeResult
from katachi.search.settings import MctsSettings
from katachi.sgf import SgfError, game_to_sgf, parse_sgf

SUITE: Final = Path(__file__).with_name("suite.sgf")
SIZES: Final = (9, 19)
LEAST_GAP: Final = 0.15  # in P(win), between the best move and a search without it
_SCREENED_GAP: Final = 0.1  # the same by short searches, so that most positions are dismissed at once
_SCREEN: Final = 20  # how much shorter that is
_MOST_POSITIONS: Final = 60  # of a game that are looked at
_MOST_KEPT: Final = 2  # of a game
_RANDOM_PLIES: Final = 4
GAMES: Final = {Budget.SMOKE: 1, Budget.HOUR: 20, Budget.FULL: 200}  # on each size
PLAYED_AT: Final = {Budget.SMOKE: 10, Budget.HOUR: 300, Budget.FULL: 300}  # simulations per move of the games
ANALYSED_AT: Final = {Budget.SMOKE: 100, Budget.HOUR: 10_000, Budget.FULL: 50_000}
SOLVED_AT: Final = {Budget.SMOKE: (10, 50), Budget.HOUR: (100, 1_000), Budget.FULL: (100, 1_000, 10_000)}
_SMOKE_POSITIONS: Final = 4  # of each size
_POSITIONS_A_RUN: Final = 20
_DISMISSED: Final = ("looked at", "clear at first", "clear")  # stages that positions come to


class Found(NamedTuple):
    """What an analyst finds: a move, its P(win), and what is left to who may not play it."""

    move: int
    best: float
    second: float

    @property
    def gap(self) -> float:
        return self.best - self.second


def ask(analyst: Player, game: Game, simulations: int) -> Found:
    """The best move, and the value of a second search that may not play it: moves hardly looked at have none.

    Raises ExperimentError if a player cannot do that.
    """
    if not isinstance(analyst, SelectivePlayer):
        raise ExperimentError(f"{analyst.name} cannot do without a move: take players with a tree search")
    move, best = _search(analyst, game, simulations)
    banned = analyst.without([Ban(game.to_play, move)])
    return Found(move, best, _search(banned, game, simulations)[1])


def _search(analyst: Player, game: Game, simulations: int) -> tuple[int, float]:
    """A move, and the chance of winning that it gives who plays it."""
    decision = analyst.decide(game, Limit(simulations=simulations))
    if decision.analysis is None or decision.analysis.black_wins is None:
        raise ExperimentError(f"{analyst.name} does not say who wins: take players with a tree search")
    black_wins = decision.analysis.black_wins
    return decision.move, black_wins if game.to_play == BLACK else 1 - black_wins


def first_by_patterns(game: Game) -> int:
    """The move that the priors of the search without a network put first."""
    result = MctsSettings(threads=1).build(None).search(game, Limit(simulations=1), np.random.default_rng(1))
    assert isinstance(result, TreeResult)
    return int(np.argmax(result.priors[:-1]))


def find_positions(size: int, player: Json, analysts: list[Json], simulations: int, seed: int) -> Json:
    """Play one game and look for positions in it; returns their moves, the answer last, and what was dismissed."""
    first, second = (build_player(values, seed) for values in analysts)
    counts = dict.fromkeys(_DISMISSED, 0)
    kept: list[Json] = []
    for game in _positions(size, player, seed):
        counts["looked at"] += 1
        short = ask(first, game, max(1, simulations // _SCREEN))
        if short.gap < _SCREENED_GAP or short.move == PASS or short.move == first_by_patterns(game):
            continue
        counts["clear at first"] += 1
        found = ask(first, game, simulations)
        if found.move != short.move or found.gap < LEAST_GAP:
            continue
        counts["clear"] += 1
        other = ask(second, game, simulations)
        if other.move == found.move and other.gap >= LEAST_GAP:
            moves = [play.move for play in game.moves]
            kept.append({"moves": [*moves, found.move], "found": [found[1:], other[1:]]})
        if len(kept) == _MOST_KEPT:
            break
    return counts | {"kept": kept}


def _positions(size: int, values: Json, seed: int) -> Iterator[Game]:
    """Positions of a game of a player against itself, in any order, none after a pass."""
    rules = Rules()
    black, white = (build_player(values, seed + color) for color in (0, 1))
    start = RandomOpenings(size, rules, _RANDOM_PLIES, seed).opening(0).start(size, rules)
    moves = [play.move for play in play_game(black, white, start, Conditions(max_moves=2 * size * size)).game.moves]
    plies = [ply for ply in range(_RANDOM_PLIES, len(moves)) if moves[ply - 1] != PASS]
    for ply in np.random.default_rng(seed).permutation(plies)[:_MOST_POSITIONS].tolist():
        game = Game(size, rules)
        for move in moves[:ply]:
            game.play(move)
        yield game


class Positions(Table):
    name = "positions"
    title = "How the suite was made"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Look for positions in ``--runs`` games of each size with two analysts, default ones or those of ``--model``.

        What was found is written to ``suite.sgf`` in the folder of the table.
        """
        simulations, games = ANALYSED_AT[scope.budget], scope.runs or GAMES[scope.budget]
        analysts = {size: two for size in SIZES if (two := self._analysts(size, scope, simulations))}
        common = {"player": player(PLAYED_AT[scope.budget]), "simulations": simulations}
        runs = [
            Run(
                f"{size}-{number:04d}",
                find_positions,
                {"size": size, "analysts": two, "seed": seed_of(self.name, size, number), **common},
                games=1,
            )
            for number in range(games)
            for size, two in analysts.items()
        ]
        done = do_runs(runs, scope.folder, scope.workers, scope.watch)
        found = {size: done[number :: len(analysts)] for number, size in enumerate(analysts)}
        kept = {size: [each for game in games for each in game["kept"]] for size, games in found.items()}
        records = dict.fromkeys(format_position(size, each) for size, own in kept.items() for each in own)
        write_atomically(scope.folder / SUITE.name, "".join(records))
        return {
            "simulations": simulations,
            "sizes": {
                str(size): {
                    "analysts": [values.get("name", "search without a network") for values in analysts[size]],
                    "games": len(games),
                    **{what: sum(game[what] for game in games) for what in _DISMISSED},
                    "kept": len(kept[size]),
                }
                for size, games in found.items()
            },
        }

    def _analysts(self, size: int, scope: Scope, simulations: int) -> list[Json]:
        """Two that see all that they are given; none if players were named, and none of these for this size."""
        fit = [text for text in scope.models if find_spec(text).board_size in (None, size)]
        named = [held(text, simulations, stops_early=False) for text in fit]
        if not scope.models:
            plain = player(simulations)
            plain["search"] |= {"stops_early": False}
            named = [held(f"strong-{size}", simulations, stops_early=False), plain]
        if len(named) not in (0, 2):
            raise ExperimentError(f"two analysts are needed on {size}×{size}, and {len(named)} are given by --model")
        return named

    def rows(self, results: Json) -> Iterator[Row]:
        """How many positions there are."""
        for size, found in results["sizes"].items():
            what = f"{size}×{size}: positions with one best move, of {found['looked at']:,}"
            yield Row(f"{self.name}/{size}", what, None, found["kept"], None)

    def section(self, results: Json) -> str:
        """Where positions come from, and why others were dismissed."""
        header = ("board", "analysts", "games", "positions", "clear at first", "clear to one", "to both")
        lines = []
        for size, found in results["sizes"].items():
            counts = (f"{found[what]:,}" for what in ("games", *_DISMISSED, "kept"))
            lines.append((f"{size}×{size}", " and ".join(found["analysts"]), *counts))
        return f"""
Positions of games of the tree search against itself, from {_RANDOM_PLIES} random moves. A short search finds a move
that is worth {100 * _SCREENED_GAP:.0f} points of win rate and that the patterns do not put first; then two analysts
must agree on it at {results["simulations"]:,} simulations each, and lose {100 * LEAST_GAP:.0f} points in a second
search that may not play it. At most {_MOST_KEPT} positions of a game are kept.

{table(header, lines)}
"""


def format_position(size: int, kept: Json) -> str:
    """A position as the record of its game, with the answer as the last move."""
    game = Game(size)
    for move in kept["moves"]:
        game.play(move)
    (best, second), (other, other_second) = kept["found"]
    values = f"{best:.0%} and {other:.0%} by two analysts, {second:.0%} and {other_second:.0%} without it"
    answer = format_vertex(kept["moves"][-1], size)
    return game_to_sgf(game, comments={len(kept["moves"]): f"{answer} wins {values}"})


# Solving them.


class Problem(NamedTuple):
    """A position and its best move."""

    game: Game
    answer: int


def read_suite(path: Path) -> list[Problem]:
    """The positions of a suite; raises ExperimentError if it cannot be read."""
    try:
        content = path.read_bytes()
        games = [record.replay(rules=Rules()) for record in parse_sgf(content)] if content else []
    except (OSError, SgfError) as error:
        way_out = "make one by --table positions, and give it as --data FILE"
        raise ExperimentError(f"there is no suite of positions in {path} ({error}): {way_out}") from None
    problems = []
    for game in games:
        answer = game.moves[-1].move
        game.undo()
        problems.append(Problem(game, answer))
    return problems


def solve(player: Json, chosen: list[int], seed: int, suite: str, *, path: Path) -> Json:  # noqa: ARG001
    """Which of some positions of a suite, which has this digest, a player solves: a 1 or a 0 for each."""
    problems, asked = read_suite(path), build_player(player, seed)
    moves = ((asked.decide(problems[number].game, Limit()).move, problems[number].answer) for number in chosen)
    return {"solved": [int(move == answer) for move, answer in moves]}


class Suite(Table):
    name = "suite"
    title = "Positions with one best move"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Let players solve the suite, or the one that is given as ``--data``; ``--model`` names other players."""
        path = (scope.data or SUITE).resolve()
        problems, digest = read_suite(path), hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        results: Json = {"suite": digest, "sizes": {}}
        for size in sorted({problem.game.size for problem in problems}):
            chosen = [number for number, problem in enumerate(problems) if problem.game.size == size]
            chosen = chosen[: scope.runs or (_SMOKE_POSITIONS if scope.budget is Budget.SMOKE else None)]
            runs = {
                name: list(_runs(values, chosen, path, digest)) for name, values in self._players(size, scope).items()
            }
            done = iter(do_runs(list(chain(*runs.values())), scope.folder, scope.workers, scope.watch))
            solved = {name: list(chain(*(next(done)["solved"] for _ in own))) for name, own in runs.items()}
            results["sizes"][str(size)] = {"positions": len(chosen), "solved": solved}
            scope.keep(results)
        return results

    def _players(self, size: int, scope: Scope) -> dict[str, Json]:
        """Those of ``--model`` that play on boards of a size, or the network alone and ever longer searches."""
        if scope.models:
            return named_players(text for text in scope.models if find_spec(text).board_size in (None, size))
        if size not in SIZES:
            raise ExperimentError(f"the suite has positions on {size}×{size}: name players for them, --model PLAYER")
        searches = {f"strong-{size}, {count:,} simulations": count for count in SOLVED_AT[scope.budget]}
        alone = {f"policy-{size} alone": player_values(f"policy-{size}")}
        return alone | {name: held(f"strong-{size}", count) for name, count in searches.items()}

    def rows(self, results: Json) -> Iterator[Row]:
        """What every player solves, and how much more that is than the one before it."""
        for size, found in results["sizes"].items():
            for name, solved in found["solved"].items():
                where = f"{self.name}/{size}/{name.replace(', ', '/').replace(' ', '-')}"
                what = f"{size}×{size}, {len(solved)} positions, {name}: solved, %"
                yield Row.measured(where, what, None, share(sum(solved), len(solved)))

    def section(self, results: Json) -> str:
        """How it was measured, and a table for each size."""
        tables = "\n".join(self._table(size, found) for size, found in results["sizes"].items() if found["solved"])
        return f"""
Positions of games of our own players in which two long searches found one move clearly best and the patterns of the
playouts another one. A player solves a position if it plays that move. *Alone* are the positions that a player solves
and the one above it does not, and the other way round; the difference is between the same two, over positions.

{tables}
"""

    def _table(self, size: str, found: Json) -> str:
        header = (f"{size}×{size}, {found['positions']} positions", "solved, %", "alone", "difference, points (95 %)")
        lines = []
        for above, name in pairwise((None, *found["solved"])):
            solved = found["solved"][name]
            won = format_rounded(share(sum(solved), len(solved)))
            lines.append((name, won, *(compare(found["solved"][above], solved) if above else ("", ""))))
        return table(header, lines)


def _runs(values: Json, chosen: Sequence[int], path: Path, digest: str) -> Iterator[Run]:
    for first in range(0, len(chosen), _POSITIONS_A_RUN):
        some = list(chosen[first : first + _POSITIONS_A_RUN])
        key = f"{seed_of(repr(values)):08x}-{digest}-{some[0]:04d}-{len(some)}"
        arguments = {"player": values, "chosen": some, "seed": seed_of(Suite.name, some[0]), "suite": digest}
        yield Run(key, partial(solve, path=path), arguments, len(some))


def compare(before: Sequence[int], now: Sequence[int]) -> tuple[str, str]:
    """Positions that one of two players alone solves, ``12 : 3`` with the later first, and the difference of both.

    >>> compare([1, 0, 0, 0] * 25, [0, 1, 1, 0] * 25)
    ('50 : 25', '25 (8.70 … 41.3)')
    """
    differences = np.subtract(now, before)
    mean, low, high = mean_interval(100 * differences)
    alone = f"{int((differences > 0).sum())} : {int((differences < 0).sum())}"
    return alone, format_rounded(Estimate(mean, (low, high)))

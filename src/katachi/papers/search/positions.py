"""Positions that players are asked about: win rates beside results of games, and positions with one best move."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from katachi.arena.match import Conditions, RandomOpenings, play_game
from katachi.core.cards import CONFIDENCE, mean_interval
from katachi.core.contracts import Ban, Decision, Doubles, Limit, Player, SelectivePlayer
from katachi.core.disk import write_atomically
from katachi.core.execution import here
from katachi.core.models import load_model
from katachi.data.batches import area_komi
from katachi.data.dataset import RESULTS, Dataset
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, Reason, format_vertex
from katachi.go.rules import KoRule, Rules
from katachi.papers.documents import COLORS, Estimate, format_rounded, label_axes, plot, share, table, with_errors
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, do_runs, seed_of
from katachi.papers.search.strength import SIZE, player
from katachi.papers.tournaments import (
    Games,
    build_player,
    held,
    named_players,
    open_games,
    require_games,
    without_search,
)
from katachi.players.specs import find_spec
from katachi.search.one_ply import TreeResult
from katachi.search.settings import MctsSettings
from katachi.sgf import SgfError, game_to_sgf, parse_sgf
from katachi.sgf.files import Split

# Whether a win rate is what it says: predicted chances of winning beside the results of games between people.
#
# One position of each of many test games is asked about, so that positions are as independent as games are. A predictor
# is calibrated if Black wins seven of ten games in which it gives Black 70 %. The calibration error is the mean
# distance of both over ten bins of equal width, weighted by positions (Naeini, Cooper, Hauskrecht 2015); that of a
# sample is above 0 even if nothing is wrong, so what chance alone would make of it stands beside it.

POSITIONS: Final = {Budget.SMOKE: 40, Budget.HOUR: 500, Budget.FULL: 2_000}
SIMULATIONS: Final = {Budget.SMOKE: (10, 50), Budget.HOUR: (500, 5_000), Budget.FULL: (500, 5_000)}
BINS: Final = 10
MEASURES: Final[Mapping[str, tuple[str, int]]] = {  # titles and digits
    "brier": ("Brier score", 3),
    "log loss": ("log loss", 3),
    "error": ("calibration error, percentage points", 1),
}
_CERTAIN: Final = 0.001  # probabilities are kept this far from 0 and 1, where the log loss is infinite
_SAMPLES: Final = 1_000
_GAMES_A_RUN: Final = 50
_SEED: Final = 1


def default_players(budget: Budget) -> dict[str, Json]:
    """The bundled strong player and the search without a network, held to simulations, and networks alone."""
    limits = SIMULATIONS[budget]
    return {
        **{f"strong-{SIZE}, {count:,} simulations": held(f"strong-{SIZE}", SIZE, count) for count in limits},
        **{f"search without a network, {count:,} simulations": player(count) for count in limits},
        **{f"{name} without search": without_search(name, SIZE) for name in (f"strong-{SIZE}", f"policy-{SIZE}")},
    }


# Positions, and what a player says of them.


def choose_games(games: Games, wanted: int) -> list[int]:
    """So many test games without handicap that somebody won on the board or by resignation, always the same."""
    test = games.dataset.select(games.size, Split.TEST)
    rows = games.dataset.games[test]
    finished = np.isin(rows["result"], [RESULTS.index(reason) for reason in (Reason.SCORE, Reason.RESIGNATION)])
    fit = test[finished & (rows["winner"] != EMPTY) & (rows["stones"] == 0) & (rows["handicap"] < 2)]
    chosen: list[int] = np.random.default_rng(_SEED).permutation(fit)[:wanted].tolist()
    return chosen


def read_game(dataset: Dataset, number: int, plies: int | None = None) -> Game:
    """A game of a set, or its first plies, with what its komi is worth by area."""
    moves, colors = dataset.moves_of(number)
    komi = float(area_komi(dataset, np.array([number]))[0])
    game = Game(int(dataset.games["lines"][number]), Rules(ko=KoRule.SIMPLE, komi=komi))
    for move, color in zip(moves[:plies].tolist(), colors[:plies].tolist(), strict=True):
        game.play(move, color)
    return game


def draw_position(dataset: Dataset, number: int) -> Game:
    """One position of a game, any but those after a pass and the last."""
    moves, colors = dataset.moves_of(number)
    plies = [ply for ply in range(moves.size) if ply == 0 or moves[ply - 1] != PASS] or [0]
    ply = int(np.random.default_rng((_SEED, number)).choice(plies))
    game = read_game(dataset, number, ply)
    if ply < moves.size:
        game.to_play = int(colors[ply])
    return game


def predict(player: Json, games: list[int], seed: int, *, data: Path) -> Json:
    """What a player says of Black's chances in positions of some games, and who won."""
    dataset, asked = Dataset.open(data), build_player(player, seed)
    predicted = []
    for number in games:
        black_wins = value_found(asked.decide(draw_position(dataset, number), Limit()))
        if black_wins is None:
            raise ExperimentError(f"{asked.name} does not say who wins: take players that search, or networks that do")
        predicted.append(round(black_wins, 5))
    return {"black_wins": predicted, "won": (dataset.games["winner"][games] == BLACK).astype(int).tolist()}


def value_found(decision: Decision) -> float | None:
    """P(Black wins) with the move that was decided on, as far as the player says."""
    analysis = decision.analysis
    best = analysis.candidates[0].black_wins if analysis and analysis.candidates else None
    return analysis.black_wins if analysis and best is None else best


# How right that is.


def summarize(black_wins: Doubles, won: Doubles) -> Json:
    """Measures with intervals over games, [value, low, high], and bins as [positions, mean prediction, won]."""
    near = np.clip(black_wins, _CERTAIN, 1 - _CERTAIN)
    which = np.minimum((black_wins * BINS).astype(np.int64), BINS - 1)
    rng = np.random.default_rng(_SEED)
    drawn = rng.multinomial(won.size, np.full(won.size, 1 / won.size), size=_SAMPLES)
    by_chance = black_wins - (rng.random((_SAMPLES, won.size)) < black_wins)
    bounds = np.quantile(_errors(drawn * (black_wins - won), which), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return {
        "positions": int(won.size),
        "brier": mean_interval((black_wins - won) ** 2),
        "log loss": mean_interval(-np.log(np.where(won > 0, near, 1 - near))),
        "error": [float(_errors((black_wins - won)[None], which)[0]), *bounds.tolist()],
        "chance": float(_errors(by_chance, which).mean()),
        "bins": [
            [int(inside.sum()), float(black_wins[inside].mean()), int(won[inside].sum())]
            for number in range(BINS)
            if (inside := which == number).any()
        ],
    }


def _errors(differences: Doubles, which: Any) -> Doubles:
    """The calibration error in percentage points of each row of predictions less outcomes, [S, N] to [S]."""
    inside = np.eye(BINS)[which]  # [N, bins]
    errors: Doubles = 100 * np.abs(differences @ inside).sum(axis=1) / which.size
    return errors


class Calibration(Table):
    name = "calibration"
    title = "Calibration of win rates"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Ask players, the default ones or those of ``--model``; ``--runs`` is the number of positions."""
        games = require_games(scope, [Split.TEST], "asks about test games")
        if games.size != SIZE and not scope.models:
            raise ExperimentError(f"{scope.data} is on {games.size}×{games.size}: name players for it, --model PLAYER")
        players = named_players(scope.models, SIZE) or default_players(scope.budget)
        chosen = choose_games(games, scope.runs or POSITIONS[scope.budget])
        if not chosen:
            raise ExperimentError(f"{scope.data} has no even test games that were finished")
        runs = {name: list(self._runs(values, chosen, games)) for name, values in players.items()}
        done = iter(do_runs(list(chain(*runs.values())), scope.folder, scope.workers, scope.watch))
        found = {name: [next(done) for _ in own] for name, own in runs.items()}
        return {
            "data": games.describe(),
            "players": {
                name: summarize(*(np.concatenate([part[key] for part in parts]) for key in ("black_wins", "won")))
                for name, parts in found.items()
            },
        }

    def _runs(self, values: Json, chosen: list[int], games: Games) -> Iterator[Run]:
        for first in range(0, len(chosen), _GAMES_A_RUN):
            some = chosen[first : first + _GAMES_A_RUN]
            key = f"{seed_of(repr(values)):08x}-{games.digest}-{first:05d}-{len(some)}"
            arguments = {"player": values, "games": some, "seed": seed_of(self.name, first)}
            yield Run(key, partial(predict, data=games.dataset.path), arguments, len(some))

    def rows(self, results: Json) -> Iterator[Row]:
        """Every measure of every player."""
        for name, found in results["players"].items():
            for measure, (title, digits) in MEASURES.items():
                value, *bounds = (round(number, digits) for number in found[measure])
                where = f"{self.name}/{name.replace(', ', '/').replace(' ', '-')}/{measure.replace(' ', '-')}"
                what = f"{name}, {found['positions']:,} positions: {title}"
                yield Row(where, what, None, value, (bounds[0], bounds[1]), n=found["positions"])

    def section(self, results: Json) -> str:
        """How it was measured, the reliability diagram, and the measures."""
        data, positions = results["data"], max(found["positions"] for found in results["players"].values())
        return f"""
The chance that Black wins, as players give it, and who won: one position each of {positions:,} finished even test games
of `{data["name"]}` on {data["size"]}×{data["size"]}, the same for all, at the komi of the game. The games are between
people, who do not always win what is won; so a search that sees more is not always closer to the results. A constant
one half has a Brier score of 0.25 and a log loss of 0.693. The calibration error is the mean distance of prediction and
result over ten bins; *by chance* is what a predictor without any error would have in so many positions. Probabilities
are kept {_CERTAIN} away from 0 and 1 for the log loss.

![Games that Black won by the chance that players gave Black](search/{self.name}.svg)

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        header = ("player", *(f"{title} (95 %)" for title, _ in MEASURES.values()), "by chance")
        lines = []
        for name, found in results["players"].items():
            cells = (self._cell(found[measure], digits) for measure, (_, digits) in MEASURES.items())
            lines.append((name, *cells, f"{found['chance']:.1f}"))
        return table(header, lines)

    def _cell(self, found: list[float], digits: int) -> str:
        value, low, high = (f"{number:.{digits}f}" for number in found)
        return f"{value} ({low} … {high})"

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the reliability diagram: on the diagonal a win rate is what it says."""
        with plot(pictures / f"{self.name}.svg", height=4.6) as (axes,):
            axes.plot([0, 100], [0, 100], color="#999999", linestyle=":", label="as it should be")
            for (name, found), color in zip(results["players"].items(), COLORS, strict=False):
                won = [share(won, count) for count, _, won in found["bins"]]
                values, errors = with_errors((each.mean, *(each.interval or ())) for each in won)
                predicted = [100 * mean for _, mean, _ in found["bins"]]
                axes.errorbar(predicted, values, errors, color=color, marker="o", capsize=2, linewidth=1, label=name)
            label_axes(
                axes, "Reliability of win rates", "chance that Black wins, as given, %", "games that Black won, %"
            )
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15))


# Positions with one clearly best move: how they are found, and how many of them a player solves.
#
# The positions come from games of a level against itself, which errs as people do, or from records; those are looked at
# where somebody has just erred, or is about to, as a network values the boards. One is kept if two
# different analysts, after a long search each, agree on its best move; if both lose a part of their win rate in a
# second search without that move; and if the patterns of the playouts would not play it first. The suite is a
# collection of diagrams with their answers:
#
#     (;GM[1]SZ[9]KM[7.5]AB[ee]AW[cc]PL[B]…;B[gd]C[…])    B[gd] is the best move

SUITE: Final = Path(__file__).with_name("suite.sgf")
SIZES: Final = (9, 19)
LEAST_GAP: Final = 0.15  # in P(win), between the best move and a search without it
PLAIN_GAP: Final = 0.05  # the same for the second analyst: by playouts, values are nearer to each other
_SCREENED_GAP: Final = 0.1  # the same by short searches, so that most positions are dismissed at once
_SCREEN: Final = 20  # how much shorter that is
_SWING: Final = 0.1  # in P(win) by the network, given away before or after a position that is looked at
_MOST_POSITIONS: Final = 60  # of a game that are looked at
_MOST_KEPT: Final = 2  # of a game
_RANDOM_PLIES: Final = 4
GAMES: Final = {Budget.SMOKE: 1, Budget.HOUR: 20, Budget.FULL: 200}  # on each size
PLAYED_BY: Final = "level-6"
ANALYSED_AT: Final = {Budget.SMOKE: 100, Budget.HOUR: 2_000, Budget.FULL: 10_000}
_PLAIN: Final = 10  # times as many simulations has the search without a network, which is faster still
SOLVED_AT: Final = {Budget.SMOKE: (10, 50), Budget.HOUR: (100, 1_000), Budget.FULL: (100, 1_000, 10_000)}
_SMOKE_POSITIONS: Final = 4  # of each size
_POSITIONS_A_RUN: Final = 20
_SOURCES: Final = "sources"  # the folder of what was found, by the games that it was found in
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
    black_wins = value_found(decision)
    if black_wins is None:
        raise ExperimentError(f"{analyst.name} does not say who wins: take players with a tree search")
    return decision.move, black_wins if game.to_play == BLACK else 1 - black_wins


def first_by_patterns(game: Game) -> int:
    """The move that the priors of the search without a network put first."""
    result = MctsSettings(threads=1).build(None).search(game, Limit(simulations=1), np.random.default_rng(1))
    assert isinstance(result, TreeResult)
    return int(np.argmax(result.priors[:-1]))


def find_positions(
    size: int, analysts: list[Json], simulations: list[int], seed: int, record: list[int] | None = None
) -> Json:
    """Look for positions in one game, which is played now or given by its moves, with so many simulations each.

    Returns their moves, the answer last, and what was dismissed.
    """
    first, second = (build_player(values, seed) for values in analysts)
    counts = dict.fromkeys(_DISMISSED, 0)
    kept: list[Json] = []
    for game in _positions(size, seed, record, analysts[0]):
        counts["looked at"] += 1
        short = ask(first, game, max(1, simulations[0] // _SCREEN))
        if short.gap < _SCREENED_GAP or short.move == PASS or short.move == first_by_patterns(game):
            continue
        counts["clear at first"] += 1
        found = ask(first, game, simulations[0])
        if found.move != short.move or found.gap < LEAST_GAP:
            continue
        counts["clear"] += 1
        other = ask(second, game, simulations[1])
        if other.move == found.move and other.gap >= PLAIN_GAP:
            moves = [play.move for play in game.moves]
            kept.append({"moves": [*moves, found.move], "found": [found[1:], other[1:]]})
        if len(kept) == _MOST_KEPT:
            break
    return counts | {"kept": kept}


def _play(size: int, seed: int) -> list[int]:
    """The moves of a game of a level against itself, from some random ones."""
    rules = Rules()
    black, white = (find_spec(PLAYED_BY).on(size).build(seed + color) for color in (0, 1))
    start = RandomOpenings(size, rules, _RANDOM_PLIES, seed).opening(0).start(size, rules)
    played = play_game(black, white, start, Conditions(max_moves=2 * size * size))
    return [play.move for play in played.game.moves]


def _positions(size: int, seed: int, record: list[int] | None, analyst: Json) -> Iterator[Game]:
    """Positions of a game, in any order, none after a pass; where an analyst has a network, those with a swing."""
    moves = _play(size, seed) if record is None else record
    swings = find_swings(moves, size, analyst.get("evaluator"))
    plies = [ply for ply in range(_RANDOM_PLIES, len(moves)) if moves[ply - 1] != PASS and swings[ply] >= _SWING]
    for ply in np.random.default_rng(seed).permutation(plies)[:_MOST_POSITIONS].tolist():
        yield _after(moves[:ply], size)


def _after(moves: Sequence[int], size: int) -> Game:
    game = Game(size)
    for move in moves:
        game.play(move)
    return game


def find_swings(moves: Sequence[int], size: int, evaluator: Json | None) -> Doubles:
    """What was given away by the move before each position or by the one after it, as P(win), [plies].

    By the value of a network; infinity everywhere without one.
    """
    if evaluator is None:
        return np.full(len(moves), np.inf)
    options = {name: value for name, value in evaluator.items() if name != "model"}
    boards = [_after(moves[:ply], size).board for ply in range(len(moves) + 1)]
    black_wins = load_model(evaluator["model"], options).evaluate(boards).black_wins.astype(np.float64)
    movers = np.array([board.to_play for board in boards])
    given = movers[:-1] * (black_wins[:-1] - black_wins[1:])  # by each move
    swings: Doubles = np.maximum(np.append(0, given[:-1]), given)
    return swings


class _Source(NamedTuple):
    """Games of one size: the moves of recorded ones, or None for each that is played now."""

    name: str  # of the dataset
    size: int
    games: Sequence[list[int] | None]


def _games_of(source: str) -> str:
    return f"games of `{source}`" if source else f"games of `{PLAYED_BY}` against itself"


def _recorded_moves(games: Games, wanted: int) -> _Source:
    """Of so many validation games without handicap, always the same."""
    dataset = games.dataset
    order = np.random.default_rng(_SEED).permutation(dataset.select(games.size, Split.VALIDATION)).tolist()
    long = (moves for number in order if len(moves := dataset.moves_in_turn(number)) > _RANDOM_PLIES)
    return _Source(dataset.path.name, games.size, list(islice(long, wanted)))


class Positions(Table):
    name = "positions"
    title = "How the suite was made"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Look for positions in ``--runs`` games of each size with two analysts, default ones or those of ``--model``.

        The games are played now, or are validation games of ``--data``; what was found in other games before stays.
        All of it is written to ``suite.sgf`` in the folder of the table.
        """
        wanted = scope.runs or GAMES[scope.budget]
        sources = [_recorded_moves(open_games(path, [Split.VALIDATION]), wanted) for path in scope.sets]
        for source in sources or [_Source("", size, [None] * wanted) for size in SIZES]:
            if analysts := self._analysts(source.size, scope, ANALYSED_AT[scope.budget]):
                found = self._look(source, analysts, scope)
                (scope.folder / _SOURCES).mkdir(parents=True, exist_ok=True)
                write_atomically(scope.folder / _SOURCES / f"{source.size}-{source.name}.json", json.dumps(found))
        all_found = [json.loads(path.read_bytes()) for path in sorted((scope.folder / _SOURCES).glob("*.json"))]
        records = [format_position(found["size"], each) for found in all_found for each in found["positions"]]
        write_atomically(scope.folder / SUITE.name, "".join(dict.fromkeys(records)))
        for found in all_found:
            found["kept"] = len(found.pop("positions"))
        return {"sources": all_found}

    def _look(self, source: _Source, analysts: list[Json], scope: Scope) -> Json:
        """What is found in the games of one source."""
        simulations = [each["limit"]["simulations"] for each in analysts]
        runs = [
            Run(
                f"{source.size}-{number:04d}{source.name}",
                find_positions,
                {
                    "size": source.size,
                    "analysts": analysts,
                    "simulations": simulations,
                    "seed": seed_of(self.name, source.size, number),
                    "record": moves,
                },
                games=1,
            )
            for number, moves in enumerate(source.games)
        ]
        games = do_runs(runs, scope.folder, scope.workers, scope.watch)
        kept = [each for game in games for each in game["kept"]]
        return {
            "source": source.name,
            "size": source.size,
            "analysts": [values.get("name", "search without a network") for values in analysts],
            "simulations": simulations[0],
            "games": len(games),
            **{what: sum(game[what] for game in games) for what in _DISMISSED},
            "positions": [each for each in kept if _after(each["moves"][:-1], source.size).board.ko_point is None],
        }

    def _analysts(self, size: int, scope: Scope, simulations: int) -> list[Json]:
        """Two that see all that they are given; none if players were named, and none of these for this size."""
        fit = [text for text in scope.models if find_spec(text).board_size in (None, size)]
        named = [held(text, size, simulations, stops_early=False) for text in fit]
        if not scope.models:
            plain = player(_PLAIN * simulations)
            plain["search"] |= {"stops_early": False}
            named = [held(f"strong-{size}", size, simulations, stops_early=False), plain]
        if len(named) not in (0, 2):
            raise ExperimentError(f"two analysts are needed on {size}×{size}, and {len(named)} are given by --model")
        return named

    def rows(self, results: Json) -> Iterator[Row]:
        """How many positions there are."""
        for found in results["sources"]:
            size, source = found["size"], found["source"]
            what = f"{size}×{size}, {_games_of(source)}: positions with one best move, of {found['looked at']:,}"
            yield Row(f"{self.name}/{size}{f'/{source}' if source else ''}", what, None, found["kept"], None)

    def section(self, results: Json) -> str:
        """Where positions come from, and why others were dismissed."""
        header = (
            "board", "positions of", "analysts", "simulations of the first", "games",
            "positions", "clear at first", "clear to one", "to both",
        )  # fmt: skip
        lines = []
        for found in results["sources"]:
            counts = (f"{found[what]:,}" for what in ("simulations", "games", *_DISMISSED, "kept"))
            board = f"{found['size']}×{found['size']}"
            lines.append((board, _games_of(found["source"]), " and ".join(found["analysts"]), *counts))
        return f"""
Positions in which the network of the first analyst says that the move before or after gave away {100 * _SWING:.0f}
points of win rate. A short search finds a move that is worth {100 * _SCREENED_GAP:.0f} points of win rate and that the
patterns do not put first; then two analysts must agree on it, and lose {100 * LEAST_GAP:.0f} and
{100 * PLAIN_GAP:.0f} points in a second search that may not play it. The one without a network has {_PLAIN} times as
many simulations. At most {_MOST_KEPT} positions of a game are kept, and none with a ko that may not be taken back: a
suite is a collection of diagrams.

{table(header, lines)}
"""


def format_position(size: int, kept: Json) -> str:
    """A position as the diagram in the root of a game record, with the answer as its only move."""
    *moves, answer = kept["moves"]
    board = _after(moves, size).board
    game = Game(size)
    black, white = (np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black, white, to_play=board.to_play)
    game.play(answer)
    (best, second), (other, other_second) = kept["found"]
    values = f"{best:.0%} and {other:.0%} by two analysts, {second:.0%} and {other_second:.0%} without it"
    return game_to_sgf(game, comments={1: f"{format_vertex(answer, size)} wins {values}"})


# Solving them.


class Problem(NamedTuple):
    """A position and its best move."""

    game: Game
    answer: int


def read_suite(path: Path) -> list[Problem]:
    """The positions of a suite; raises ExperimentError if it cannot be read."""
    try:
        content = here(path).read_bytes()
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
            return named_players((text for text in scope.models if find_spec(text).board_size in (None, size)), size)
        if size not in SIZES:
            raise ExperimentError(f"the suite has positions on {size}×{size}: name players for them, --model PLAYER")
        searches = {f"strong-{size}, {count:,} simulations": count for count in SOLVED_AT[scope.budget]}
        alone = {f"strong-{size} without search": without_search(f"strong-{size}", size)}
        return alone | {name: held(f"strong-{size}", size, count) for name, count in searches.items()}

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
Positions of games in which two long searches found one move clearly best and the patterns of the playouts another one
(`katachi reproduce search --table positions`). One of the two is the strong player of the board itself, so that long
searches by it solve nearly all; what counts is how much shorter ones and its network miss. A player solves a position
if it plays that move. *Alone* are the
positions that a player solves and the one above it does not, and the other way round; the difference is between the
same two, over positions.

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

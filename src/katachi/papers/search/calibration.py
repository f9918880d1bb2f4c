"""Whether a win rate is what it says: predicted chances of winning beside the results of games between people.

One position of each of many test games is asked about, so that positions are as independent as games are. A predictor
is calibrated if Black wins seven of ten games in which it gives Black 70 %. The calibration error is the mean distance
of both over ten bins of equal width, weighted by positions (Naeini, Cooper, Hauskrecht 2015); that of a sample is above
0 even if nothing is wrong, so what chance alone would make of it stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from katachi.core.cards import CONFIDENCE, mean_interval, wilson_interval
from katachi.core.contracts import Doubles, Limit
from katachi.data.batches import area_komi
from katachi.data.dataset import RESULTS, Dataset
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS, Reason
from katachi.go.rules import KoRule, Rules
from katachi.papers.documents import COLORS, label_axes, plot, table, with_errors
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, do_runs, seed_of
from katachi.papers.search.strength import SIZE, player
from katachi.papers.tournaments import Games, build_player, held, named_players, open_games, player_values
from katachi.sgf.files import Split

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
_POSITIONS_A_RUN: Final = 50
_SEED: Final = 1


def default_players(budget: Budget) -> dict[str, Json]:
    """The bundled strong player and the search without a network, held to simulations, and the network alone."""
    limits = SIMULATIONS[budget]
    return {
        **{f"strong-{SIZE}, {count:,} simulations": held(f"strong-{SIZE}", count) for count in limits},
        **{f"search without a network, {count:,} simulations": player(count) for count in limits},
        f"policy-{SIZE} alone": player_values(f"policy-{SIZE}"),
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


def draw_position(dataset: Dataset, number: int) -> Game:
    """One position of a game, any but those after a pass and the last."""
    moves, colors = dataset.moves_of(number)
    plies = [ply for ply in range(moves.size) if ply == 0 or moves[ply - 1] != PASS] or [0]
    ply = int(np.random.default_rng((_SEED, number)).choice(plies))
    komi = float(area_komi(dataset, np.array([number]))[0])
    game = Game(int(dataset.games["lines"][number]), Rules(ko=KoRule.SIMPLE, komi=komi))
    for move, color in zip(moves[:ply].tolist(), colors[:ply].tolist(), strict=True):
        game.play(move, color)
    if ply < moves.size:
        game.to_play = int(colors[ply])
    return game


def predict(player: Json, games: list[int], seed: int, *, data: Path) -> Json:
    """What a player says of Black's chances in positions of some games, and who won."""
    dataset, asked = Dataset.open(data), build_player(player, seed)
    predicted = []
    for number in games:
        analysis = asked.decide(draw_position(dataset, number), Limit()).analysis
        if analysis is None or analysis.black_wins is None:
            raise ExperimentError(f"{asked.name} does not say who wins: take players that search, or networks that do")
        predicted.append(round(float(analysis.black_wins), 5))
    return {"black_wins": predicted, "won": (dataset.games["winner"][games] == BLACK).astype(int).tolist()}


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
        if scope.data is None:
            raise ExperimentError("this table asks about test games: give --data SET (see: katachi data import --help)")
        games = open_games(scope.data, [Split.TEST])
        if games.size != SIZE and not scope.models:
            raise ExperimentError(f"{scope.data} is on {games.size}×{games.size}: name players for it, --model PLAYER")
        players = named_players(scope.models) or default_players(scope.budget)
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
        for first in range(0, len(chosen), _POSITIONS_A_RUN):
            some = chosen[first : first + _POSITIONS_A_RUN]
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
                yield Row(where, what, None, value, (bounds[0], bounds[1]))

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
                points = [(100 * mean, *_won(won, count)) for count, mean, won in found["bins"]]
                values, errors = with_errors([point[1:] for point in points])
                predicted = [point[0] for point in points]
                axes.errorbar(predicted, values, errors, color=color, marker="o", capsize=2, linewidth=1, label=name)
            label_axes(
                axes, "Reliability of win rates", "chance that Black wins, as given, %", "games that Black won, %"
            )
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15))


def _won(won: int, count: int) -> tuple[float, float, float]:
    low, high = wilson_interval(won, count)
    return 100 * won / count, 100 * low, 100 * high

"""The paper's figures: the error in the course of training, human moves among the best m, a position; and bootstrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.core.disk import write_atomically
from katachi.core.drawing import Layer, draw_layer
from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, format_color, format_vertex
from katachi.papers.documents import (
    COLORS,
    Estimate,
    format_rounded,
    format_value,
    label_axes,
    mean_of_many,
    plot,
    table,
)
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table, planned
from katachi.papers.tournaments import Pair, distinct_games, format_won, play_tournaments, rate_games, write_players
from katachi.papers.wu2006 import tables
from katachi.papers.wu2006.nets import (
    DIFFERENCES,
    LARGE,
    NETS,
    PAPERS,
    STRONG,
    describe_sets,
    is_the_papers,
    learn,
    require_sets,
)
from katachi.papers.wu2006.tables import AMONG_BEST, BEST, TOP, Question, ask, top_rate
from katachi.sgf.files import Split
from katachi.territory.evaluator import Territory, load_territory
from katachi.territory.learner import PHASES
from katachi.territory.measure import measure_territory, name_phase, promise_areas
from katachi.territory.train import BootstrapTraining, train_bootstrap

# Pure bootstrap: networks that learn from their own games on 5×5 and 7×7 alone, and what that is worth elsewhere.

SIZES: Final = (5, 7)
OPPONENTS: Final = ("random", "alp")
POSITIONS: Final = {Budget.SMOKE: 2_000, Budget.HOUR: 100_000, Budget.FULL: 1_000_000}
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 50, Budget.FULL: 400}
MEASURED: Final = {Budget.SMOKE: 50, Budget.HOUR: 1000, Budget.FULL: 5000}
_RANDOM_PLIES: Final = 2
_COMMAND: Final = "katachi reproduce wu2006"


class Bootstrap(Table):
    name = "bootstrap"
    title = "Pure bootstrap on small boards"
    own_differences = (
        "The paper says neither how moves were drawn nor how long it learned. Ours are drawn in proportion to e^E, "
        "where E is the area that they promise.",
        "Propensities would be knowledge of other games: they stay 0.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn on each size, play there, and ask about a labeled set if one is given; ``--runs`` is the games."""
        boards: Json = {}
        results: Json = {"data": require_sets(scope).describe() if scope.sets else None, "boards": boards}
        for size in SIZES:
            positions = POSITIONS[scope.budget]
            path = scope.folder.parent / NETS / f"bootstrap-{size}-{positions}"
            train_bootstrap(BootstrapTraining(size=size, positions=positions), path, lambda _: None, _COMMAND)
            boards[str(size)] = {
                "positions": positions,
                **self._play(path / "model", size, scope),
                **self._ask(path / "model", scope),
            }
            scope.keep(results)
        return results

    def _play(self, model: Path, size: int, scope: Scope) -> Json:
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

    def _ask(self, model: Path, scope: Scope) -> Json:
        """Its ownership accuracy on the labeled set's positions."""
        if not scope.sets:
            return {}
        known = measure_territory(load_territory(model)[0], require_sets(scope).labeled, MEASURED[scope.budget])
        found = mean_of_many(100 * known.shares)
        return {"known": {"mean": found.mean, "interval": found.interval}}

    def rows(self, results: Json) -> Iterator[Row]:
        """Games won on its own board, and the ownership accuracy on another."""
        for size, board in results["boards"].items():
            for pair in (Pair(**pair) for pair in board["pairs"]):
                what = f"bootstrap on {size}×{size} against {pair.second}: won, %"
                yield Row.measured(f"{self.name}/{size}/{pair.second}", what, None, pair.won)
            if known := board.get("known"):
                asked = results["data"]["size"]
                what = f"bootstrap on {size}×{size}: ownership accuracy on {asked}×{asked}, %"
                n = planned(results, MEASURED)
                yield Row(f"{self.name}/{size}/known", what, None, round(known["mean"], 1), known["interval"], n=n)

    def section(self, results: Json) -> str:
        """Ours, and what the paper says in words."""
        data = results["data"]
        known = "" if data is None else f"ownership accuracy on {data['size']}×{data['size']}, %"
        header = (
            "learned on",
            "positions",
            *(f"won against {opponent}, %" for opponent in OPPONENTS),
            known or "ownership accuracy",
        )
        return f"""
A network plays against itself, one ply deep, and learns who owned what in the end; nobody else's games are needed. The
paper tried this on 5×5 and 7×7 and calls the result encouraging but not sufficient: what was learned there is weak on
larger boards. Games begin after {_RANDOM_PLIES} random moves, and those that came out the same count once.

{table(header, (self._line(size, board) for size, board in results["boards"].items()))}
"""

    def _line(self, size: str, board: Json) -> tuple[str, ...]:
        won = {pair["second"]: Pair(**pair) for pair in board["pairs"]}
        shares = (format_won(won.get(name)) for name in OPPONENTS)
        known = board.get("known")
        accuracy = "" if known is None else format_rounded(Estimate(known["mean"], tuple(known["interval"])))
        return f"{size}×{size}", format_value(board["positions"]), *shares, accuracy


PHASES_ASKED: Final = (20, 50, 80, 120, 180)  # the first of four moves of each game that are asked about
MOVES: Final = {Budget.SMOKE: 10, Budget.HOUR: 120, Budget.FULL: 2000}  # of each phase but that of Table 2
SHOWN: Final = (1, 5, 10, 20, 30, 40)
_MIDDLE: Final = 80


class Figure2a(Table):
    name = "figure2a"
    title = "Figure 2a: the error in the course of training"
    own_differences = DIFFERENCES

    def measure(self, scope: Scope) -> Json:
        """Learn both networks; their runs keep what was known meanwhile."""
        sets = require_sets(scope)
        nets = [learn("paper", sets, scope), learn("strong", sets, scope)]
        return {"data": sets.describe(), "nets": [net.to_json() | {"lines": list(net.lines)} for net in nets]}

    def rows(self, results: Json) -> Iterator[Row]:
        """The error of each phase after the first measurement and after the last."""
        for net, (when, number) in product(results["nets"], (("first", 0), ("last", -1))):
            line = net["lines"][number]
            for phase in self._phases(net):
                what = f"{net['title']} after {line['epochs']:.2g} epochs: error, boards {name_phase(phase)}"
                found = round(line[f"validation_loss_{phase}"], 2)
                yield Row(f"{self.name}/{net['title']}/{when}/{phase}", what, None, found, None)

    def _phases(self, net: Json) -> list[int]:
        return [phase for phase in range(len(PHASES) + 1) if f"validation_loss_{phase}" in net["lines"][-1]]

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the errors of every network."""
        with plot(pictures / f"{self.name}.svg", columns=2) as panels:
            for axes, net in zip(panels, results["nets"], strict=True):
                self._draw_errors(axes, net)

    def section(self, results: Json) -> str:
        """The curves, and the errors of the paper's network in a table."""
        paper = results["nets"][0]
        header = ("epochs", *(name_phase(phase) for phase in self._phases(paper)), "ownership accuracy, %")
        return f"""
{describe_sets(results["data"])} The error is the relative entropy of targets and outputs, summed over the points of a
board, on validation games, by how full the board is. The paper draws it after 1, 2, 33 and 38 epochs without figures
and says that it falls fast in the first epochs, then slowly, and is smaller late in the game. An epoch is as many
positions as the games have.

![Validation error by phase](wu2006/{self.name}.svg)

The paper's network:

{table(header, (self._line(line, self._phases(paper)) for line in paper["lines"]))}
"""

    def _line(self, line: Json, phases: list[int]) -> tuple[str, ...]:
        errors = (f"{line[f'validation_loss_{phase}']:.2f}" for phase in phases)
        return f"{line['epochs']:.3g}", *errors, f"{100 * line['validation_right']:.1f}"

    def _draw_errors(self, axes: Any, net: Json) -> None:
        for phase, color in zip(self._phases(net), COLORS, strict=False):
            errors = [line[f"validation_loss_{phase}"] for line in net["lines"]]
            axes.plot([line["epochs"] for line in net["lines"]], errors, color=color, label=name_phase(phase))
        axes.set_ylim(0)
        label_axes(axes, f"Validation error, {net['title']}", "epochs", "nats a position")


class Figure2b(Table):
    name = "figure2b"
    title = "Figure 2b: human moves among the best m"
    own_differences = DIFFERENCES

    def measure(self, scope: Scope) -> Json:
        """Learn all networks on the small board, and ask them about moves on 19×19; ``--runs``: moves of a phase.

        The middle phase is the moves of Table 2, the same ones, so that what both say of them is one number.
        """
        sets = require_sets(scope)
        games = sets.of_size(LARGE)
        if games is None:
            raise ExperimentError(f"this figure asks about {LARGE}×{LARGE} games: give such a set by --data, too")
        strong = learn("strong", sets, scope)
        nets = [*(learn(kind, sets, scope) for kind in PAPERS), strong, strong.evaluating_by_policy()]
        questions = [Question(LARGE, first, first + 3) for first in PHASES_ASKED]
        results: Json = {"data": sets.describe(), "asked of": games.path.name, "nets": []}
        for net in nets:
            asked = {str(each.first): ask(net, each, games, self._count(each, scope), scope) for each in questions}
            results["nets"].append(net.to_json() | {"asked": asked})
            scope.keep(results)
        return results

    def _count(self, question: Question, scope: Scope) -> int:
        """How many moves of a phase are asked about."""
        return scope.runs or (tables.MOVES if question in tables.QUESTIONS.values() else MOVES)[scope.budget]

    def rows(self, results: Json) -> Iterator[Row]:
        """How many of the moves are among the best m, by phase; what the paper says of them is a row of Table 2."""
        for net in results["nets"]:
            for (first, asked), top in product(net["asked"].items(), (1, 10, BEST)):
                what = f"{net['title']}: moves {first} to {int(first) + 3} among the {top} best, %"
                found = top_rate(asked, top)
                yield Row.measured(f"{self.name}/{net['title']}/{first}/top-{top}", what, None, found)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the places of every network."""
        with plot(pictures / f"{self.name}.svg", columns=len(results["nets"])) as panels:
            for axes, net in zip(panels, results["nets"], strict=True):
                self._draw_places(axes, net)

    def section(self, results: Json) -> str:
        """The curves, and tables of their points."""
        header = ("moves", "asked", *(f"top-{top}, %" for top in SHOWN), "top-30 at random, %")
        parts = "\n".join(
            f"The network `{net['title']}`:\n\n{table(header, (self._line(net, first) for first in net['asked']))}"
            for net in results["nets"]
        )
        return f"""
{describe_sets(results["data"])} They are asked about moves of even {LARGE}×{LARGE} test games of
`{results["asked of"]}`, of players of {STRONG} and better where ranks are known: four moves of each game, in several
phases. Those of {_MIDDLE} to {_MIDDLE + 3} are the moves of Table 2, as many of them as the table says. All legal
points are ranked by the area that a move there promises, or by the network's own policy. The paper says that with 80
stones on the board half of the moves of professionals are among the best {BEST}.

![Moves among the best m](wu2006/{self.name}.svg)

{parts}
"""

    def _line(self, net: Json, first: str) -> tuple[str, ...]:
        asked = net["asked"][first]
        shares = (format_rounded(top_rate(asked, top)) for top in SHOWN)
        return (
            f"{first}–{int(first) + 3}",
            format_value(asked["moves"]),
            *shares,
            f"{100 * asked['random_top'][BEST - 1]:.0f}",
        )

    def _draw_places(self, axes: Any, net: Json) -> None:
        for (first, asked), color in zip(net["asked"].items(), COLORS[1:], strict=False):
            shares = [100 * hits / asked["moves"] for hits in asked["top"]]
            axes.plot(range(1, TOP + 1), shares, color=color, label=f"moves {first} to {int(first) + 3}")
        first, asked = min(net["asked"].items(), key=lambda item: abs(int(item[0]) - _MIDDLE))
        by_chance = [100 * value for value in asked["random_top"]]
        axes.plot(range(1, TOP + 1), by_chance, color=COLORS[0], linestyle=":", label=f"moves {first} …, at random")
        if is_the_papers(net):
            axes.plot(BEST, AMONG_BEST, "o", color=COLORS[0], label="published, 80 stones")
        axes.set_ylim(0, 100)
        label_axes(axes, f"Among the best m, {net['title']}", "m", "%")


# Figure 3: a middle game on 19×19 with its predicted territory, after a pass and after the move that was played.

QUESTION: Final = Question(LARGE, 80, 83)
TRIED: Final = {Budget.SMOKE: 3, Budget.HOUR: 60, Budget.FULL: 200}  # moves, until one is what the network likes best


class Figure3(Table):
    name = "figure3"
    title = "Figure 3: a position"

    def measure(self, scope: Scope) -> Json:
        """The first of some moves that the network liked best itself, or else the one that it liked most of them."""
        sets = require_sets(scope)
        games = sets.of_size(LARGE)
        if games is None:
            raise ExperimentError(f"this figure shows a {LARGE}×{LARGE} game: give such a set by --data, too")
        net = learn("mover", sets, scope)
        territory = load_territory(net.model)[0]
        asked = QUESTION.pick(games, Split.TEST, TRIED[scope.budget])
        best: Json = {}
        tried = 0
        for game, ply in zip(asked.games.tolist(), asked.plies.tolist(), strict=True):
            tried += 1
            found = self._judge(territory, games.position(game, ply), int(games.moves_of(game).moves[ply]))
            if not best or found["place"] < best["place"]:
                best = found | {"move_number": ply + 1}
            if best["place"] == 0:
                break
        return {"data": sets.describe(), "asked of": games.path.name, "net": net.to_json(), "tried": tried, **best}

    def _judge(self, territory: Territory, board: Board, played: int) -> Json:
        promised = promise_areas(territory, board)
        owned = territory.ownership([after(board, PASS), after(board, played)]).round(3)
        return {
            "place": int((promised > promised[played]).sum()),
            "legal": int(np.isfinite(promised).sum()),
            "played": played,
            "to_play": board.to_play,
            "stones": board.stones.tolist(),
            "passed": owned[0].tolist(),
            "moved": owned[1].tolist(),
        }

    def rows(self, results: Json) -> list[Row]:
        """The place of the move that was played; the position was chosen for it, as the paper's was: no comparison."""
        what = f"the move that was played, among {results['legal']} legal ones: place"
        return [Row(f"{self.name}/place", what, None, results["place"] + 1, None)]

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the territory after a pass and after the move."""
        board = self._board(results)
        moved = after(board, results["played"])
        write_atomically(pictures / f"{self.name}-before.svg", draw_layer(board, self._layer(results["passed"])))
        write_atomically(
            pictures / f"{self.name}-after.svg", draw_layer(moved, self._layer(results["moved"]), results["played"])
        )

    def section(self, results: Json) -> str:
        """Both pictures, and how the position was chosen."""
        color, vertex = format_color(results["to_play"]).capitalize(), format_vertex(results["played"], LARGE)
        gained = (sum(results["moved"]) - sum(results["passed"])) / 2 * (1 if results["to_play"] == BLACK else -1)
        return f"""
{describe_sets(results["data"])} The paper shows a game of two professionals, in which the network's best move was
the one that was played. Ours is from `{results["asked of"]}`: of moves {QUESTION.first} to {QUESTION.last} of random
test games it is the best liked among the first {results["tried"]} that were looked at. {color} played {vertex}, move
{results["move_number"]}, which is in place {results["place"] + 1} of {results["legal"]} and promises {gained:+.1f}
points of area, compared with a pass. As in the paper, the first picture shows what is expected if {color} passes.
Blue is expected to be Black's, yellow White's.

![The territory after a pass](wu2006/{self.name}-before.svg)

![The territory after the move](wu2006/{self.name}-after.svg)
"""

    def _board(self, results: Json) -> Board:
        stones = np.array(results["stones"])
        board = Board(LARGE)
        black, white = (np.flatnonzero(stones == color).tolist() for color in (BLACK, -BLACK))
        board.place(black=black, white=white, to_play=results["to_play"])
        return board

    def _layer(self, owned: list[float]) -> Layer:
        return Layer("territory", "Territory", np.array(owned), "", -1.0, 1.0, None, "")

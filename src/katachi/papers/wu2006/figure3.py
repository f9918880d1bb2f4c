"""Figure 3: a middle game on 19×19 with its predicted territory, if the player passes and after the move he made."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from katachi.analysis.layers import Layer, draw_layer
from katachi.core.disk import write_atomically
from katachi.core.evaluators import after
from katachi.core.models import load_dag_rnn
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, format_color, format_vertex
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table
from katachi.papers.wu2006.games import LARGE, describe_sets, require_sets
from katachi.papers.wu2006.moves import Question
from katachi.papers.wu2006.nets import learn
from katachi.sgf.splits import Split
from katachi.territory.evaluator import Territory
from katachi.territory.measure import promise_areas

NAME: Final = "figure3"
RUN: Final = f"wu2006/{NAME}"
QUESTION: Final = Question(LARGE, 80, 83)
TRIED: Final = {Budget.SMOKE: 3, Budget.HOUR: 60, Budget.FULL: 200}  # moves, until one is what the network likes best


def measure(scope: Scope) -> Json:
    """The first of some moves that the network liked best itself, or else the one that it liked most of them."""
    sets = require_sets(scope)
    games = sets.of_size(LARGE)
    if games is None:
        raise ExperimentError(f"this figure shows a {LARGE}×{LARGE} game: give such a set by --data, too")
    net = learn("mover", sets, scope)
    territory = load_dag_rnn(net.model)[0]
    asked = QUESTION.pick(games, Split.TEST, TRIED[scope.budget])
    best: Json = {}
    tried = 0
    for game, ply in zip(asked.games.tolist(), asked.plies.tolist(), strict=True):
        tried += 1
        found = _judge(territory, games.position(game, ply), int(games.moves_of(game).moves[ply]))
        if not best or found["place"] < best["place"]:
            best = found | {"move_number": ply + 1}
        if best["place"] == 0:
            break
    return {"data": sets.describe(), "asked of": games.path.name, "net": net.to_json(), "tried": tried, **best}


def _judge(territory: Territory, board: Board, played: int) -> Json:
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


def rows(results: Json) -> list[Row]:
    """The place of the move that was played among all legal ones."""
    what = f"the move that was played, among {results['legal']} legal ones: place"
    return [Row(f"{NAME}/place", what, 1, results["place"] + 1, None, RUN)]


def section(results: Json, pictures: Path) -> str:
    """Both pictures, and how the position was chosen."""
    board = _board(results)
    moved = after(board, results["played"])
    write_atomically(pictures / f"{NAME}-before.svg", draw_layer(board, _layer(results["passed"])))
    write_atomically(pictures / f"{NAME}-after.svg", draw_layer(moved, _layer(results["moved"]), results["played"]))
    color, vertex = format_color(results["to_play"]).capitalize(), format_vertex(results["played"], LARGE)
    gained = (sum(results["moved"]) - sum(results["passed"])) / 2 * (1 if results["to_play"] == BLACK else -1)
    return f"""
{describe_sets(results["data"])} The paper shows a game of two professionals, in which the network's best move was
the one that was played. Ours is from `{results["asked of"]}`: of moves {QUESTION.first} to {QUESTION.last} of random
test games it is the best liked among the first {results["tried"]} that were looked at. {color} played {vertex}, move
{results["move_number"]}, which is in place {results["place"] + 1} of {results["legal"]} and promises {gained:+.1f}
points of area, compared with a pass. As in the paper, the first picture shows what is expected if {color} passes.
Blue is expected to be Black's, yellow White's.

![The territory after a pass](wu2006/{NAME}-before.svg)

![The territory after the move](wu2006/{NAME}-after.svg)
"""


def _board(results: Json) -> Board:
    stones = np.array(results["stones"])
    board = Board(LARGE)
    black, white = (np.flatnonzero(stones == color).tolist() for color in (BLACK, -BLACK))
    board.place(black=black, white=white, to_play=results["to_play"])
    return board


def _layer(owned: list[float]) -> Layer:
    return Layer("territory", "Territory", np.array(owned), "", -1.0, 1.0, None, "")


TABLE: Final = Table(NAME, "Figure 3: a position", measure, rows, section)

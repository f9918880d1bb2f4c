"""A game explained: what each move lost, the biggest mistakes first, in words and as a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from katachi.analysis.batches import analyze_game
from katachi.analysis.explaining import analyze_position, find_region, link_turns
from katachi.analysis.records import (
    CandidateRecord,
    MoveRecord,
    NamedShapeRecord,
    PeopleRecord,
    PositionRecord,
    TacticRecord,
    TerritoryRecord,
    count_losses,
    find_mistakes,
)
from katachi.analysis.report import draw_graph
from katachi.analysis.words import describe_game, describe_judges, describe_models, describe_move, describe_position
from katachi.core.drawing import draw_layer
from katachi.go.game import Game


@pytest.fixture
def analysis(record, judges):
    return analyze_game(record, judges)


def position(turn: int, wins: float, color: str, move: str | None = None, **changes) -> PositionRecord:
    made = None if move is None else MoveRecord(number=turn, color=color, move=move)
    given = {"game": "", "turn": turn, "node": turn, "to_play": "white" if color == "black" else "black"}
    return PositionRecord(**(given | {"black_wins": wins, "move": made} | changes))


def link(*positions: PositionRecord) -> list[PositionRecord]:
    linked = [positions[0]]
    for found in positions[1:]:
        linked.append(link_turns(linked[-1], found))
    return linked


def test_losses_are_those_of_the_player_who_moved():
    best = CandidateRecord(move="C3"), CandidateRecord(move="D4")
    game = link(
        position(0, 0.5, "white", candidates=best, black_lead=1.0),
        position(1, 0.4, "black", "D4", black_lead=-2.0),
        position(2, 0.7, "white", "A1"),
        position(3, 0.75, "black", "pass"),
    )
    first, second, third = (found.move for found in game[1:])
    assert (first.loss, first.points_lost, first.order, first.best) == (0.1, 3.0, 1, "C3")
    assert (second.loss, second.order, second.best) == (0.3, None, None)
    assert third.loss == -0.05
    assert [found.number for found in find_mistakes(game)] == [2, 1]
    assert [found.number for found in find_mistakes(game, 0.2)] == [2]
    assert count_losses(game, "black") == (2, 1, 0.05, 3.0)


@pytest.mark.parametrize(
    ("played", "others", "claimed"),
    [
        ({"prior": 0.1, "visits": 9, "black_wins": 0.45}, [], 0.3),
        ({"prior": 0.1, "visits": 9, "black_wins": 0.65}, [], 0.0),  # looking ahead found nothing wrong with it
        ({"prior": 0.1, "visits": 1, "black_wins": 0.65}, [], 0.3),  # one visit is no look
        ({"prior": 0.3, "visits": 9, "black_wins": 0.45}, [], 0.0),  # players play so
        ({"prior": 0.2, "visits": 9, "black_wins": 0.45}, [0.1], 0.0),  # no move was held likelier
        ({"prior": 0.2, "visits": 9, "black_wins": 0.45}, [0.24], 0.3),
    ],
)
def test_a_loss_is_claimed_only_where_it_is_sure(played, others, claimed):
    best = CandidateRecord(move="C3", black_wins=0.6, visits=50, prior=others[0] if others else 0.4)
    game = link(
        position(0, 0.6, "white", candidates=(best, CandidateRecord(move="D4", **played))),
        position(1, 0.3, "black", "D4"),
    )
    move = game[1].move
    assert move.loss == 0.3
    assert move.sure_loss == pytest.approx(claimed)
    assert (find_mistakes(game) == [move]) == (claimed >= 0.05)
    assert count_losses(game, "black").mean == pytest.approx(claimed)
    assert ("lost" in "".join(describe_position(game[1]))) == (claimed >= 0.05)


@pytest.mark.parametrize(("error", "claimed"), [(0.1, 0.3), (0.12, 0.0)])  # 1.96 · √2 · error is 0.277 and 0.333
def test_a_loss_within_the_error_of_playouts_is_not_claimed(error, claimed):
    game = link(
        position(0, 0.6, "white", error=error, candidates=(CandidateRecord(move="C3", prior=0.4),)),
        position(1, 0.3, "black", "D4", error=error),
    )
    assert game[1].move.loss_error == pytest.approx(2.772 * error, abs=1e-3)
    assert game[1].move.sure_loss == claimed


def test_the_best_move_is_no_mistake():
    best = CandidateRecord(move="C3", black_wins=0.6, visits=50, prior=0.1)
    game = link(position(0, 0.6, "white", candidates=(best,)), position(1, 0.3, "black", "C3"))
    assert (game[1].move.loss, game[1].move.sure_loss) == (0.3, 0.0)


def test_nothing_is_claimed_once_somebody_passed():
    game = link(
        position(0, 0.9, "white"),
        position(1, 0.5, "black", "pass"),
        position(2, 0.9, "white", "C3"),
        position(3, 0.5, "black", "D4"),
    )
    assert [found.move.loss for found in game[1:]] == [0.4, 0.4, 0.4]
    assert [found.number for found in find_mistakes(game)] == [3]


def test_territory_that_moved_is_told():
    game = link(
        position(0, 0.5, "white", ownership=(0.0,) * 25),
        position(1, 0.5, "black", "C3", ownership=(1.0,) + (0.0,) * 23 + (-0.6,)),
    )
    moved = game[1].move.territory
    assert (moved.black_gain, moved.to_black, moved.to_white) == (0.4, ("A5",), ("E1",))


def test_a_whole_game(record, analysis, judges):
    assert [found.node for found in analysis.positions] == list(range(11))
    assert analysis.game.positions == 11
    assert analysis.game.player == "strong-13 search.threads=1"
    for found in analysis.positions:
        assert 0 <= found.black_wins <= 1
        assert len(found.ownership) == 25
        assert found.opinions[0].evaluator == "shapes"
    moves = [found.move for found in analysis.positions[1:]]
    assert [move.move for move in moves] == ["C3", "B4", "B3", "C4", "D4", "D5", "A4", "pass", "B5", "pass"]
    assert [(fact.what, fact.stones) for fact in moves[8].tactics] == [("catches", ("B4", "C4"))]
    losses = [move.sure_loss for move in analysis.mistakes(least=0)]
    assert losses == sorted(losses, reverse=True)


def test_a_game_without_a_record(judges, shapes):
    game = Game(5)
    for move in (12, 7, 6):
        game.play(move)
    analysis = analyze_game(game, judges)
    assert [found.move.move for found in analysis.positions[1:]] == ["C3", "C4", "B4"]
    logit = analysis.positions[-1].move.shapes[0].logit_after
    assert logit == pytest.approx(shapes.logit(game.board), abs=1e-3)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"tactics": [("captures", ("C4",))]}, "Black C3 captures C4."),
        (
            {"tactics": [("puts in atari", tuple(f"A{n}" for n in range(1, 12)))]},
            "Black C3 puts eleven stones at A1 in atari.",
        ),
        ({"named_shapes": [("empty triangle", ())]}, "Black C3 makes an empty triangle."),
        ({"named_shapes": [("hane at the head of two", ())]}, "Black C3 is a hane at the head of two."),
        (
            {"tactics": [("saves from atari", ("C4",))], "named_shapes": [("solid connection", ())]},
            "Black C3 saves C4 from atari and makes a solid connection.",
        ),
        (
            {"tactics": [("cuts", ("C4",), ("D3",))], "named_shapes": [("cut", ()), ("peek", ())]},
            "Black C3 cuts C4 from D3 and is a peek.",
        ),
        ({"tactics": [("puts into atari itself", ("C3",))]}, "Black C3 puts itself in atari."),
        ({"tactics": [("puts into atari itself", ("C3", "C2"))]}, "Black C3 puts itself in atari with C3 and C2."),
        (
            {"territory": (-11.7, (), ("S9", "T9"), "on the right", -11.2)},
            "White gains about 11 points on the right.",
        ),
        (
            {"territory": (-11.7, (), ("S9", "T9"), "on the right", -8.0)},
            "White gains about 8 points on the right and 4 elsewhere.",
        ),
        (
            {"territory": (11.7, ("S9",), (), "in the center", 15.0)},
            "Black gains about 15 points in the center and loses 3 elsewhere.",
        ),
        ({"territory": (2.2, ("A1",), (), "", 0.0)}, "Black gains about 2 points."),
        ({"territory": (1.2, ("A1",), ("B1",), "", 0.0)}, ""),
        ({"territory": (4.0, (), (), "", 0.0)}, ""),
        ({"people": [(1, 0.9), (9, 0.62)]}, "Most 9d players play E7 (62 %); this move 3 %."),
        ({"people": [(9, 0.4)]}, "Most often 9d players play E7 (40 %), D4 (20 %); this move 3 %."),
        ({"people": [(None, 0.7)]}, "Most people play E7 (70 %); this move 3 %."),
        ({"people": []}, ""),
    ],
)
def test_what_is_said_of_a_move(facts, words):
    territory = facts.get("territory")
    move = MoveRecord(
        number=1,
        color="black",
        move="C3",
        tactics=tuple(
            TacticRecord(what=what, stones=stones, others=others[0] if others else ())
            for what, stones, *others in facts.get("tactics", ())
        ),
        named_shapes=tuple(NamedShapeRecord(name=name, stones=at) for name, at in facts.get("named_shapes", ())),
        territory=territory
        and TerritoryRecord(
            **dict(zip(("black_gain", "to_black", "to_white", "where", "there"), territory, strict=True))
        ),
        people=tuple(
            PeopleRecord(evaluator="net", rank=rank, likely=(("E7", share), ("D4", 0.2)), played=0.03)
            for rank, share in facts.get("people", ())
        ),
    )
    assert describe_move(move) == ([words] if words else [])


@pytest.mark.parametrize(
    ("points", "where"),
    [
        ([0, 1, 9, 80], "in the upper left"),
        ([3, 4, 5], "at the top"),
        ([4, 36], ""),
        ([0, 4, 8], "at the top"),
        ([26, 44, 62], "on the right"),
        ([40, 41], "in the center"),
        ([72, 80, 76, 0], "at the bottom"),
        ([0, 8, 72, 80], ""),
        ([], ""),
    ],
)
def test_regions_have_names(points, where):
    gains = np.zeros(81)
    gains[points] = 1.0
    name, there = find_region(gains, 9)
    assert name == where
    assert there >= 0.6 * len(points) or not where


def test_nobody_analyses_twice_and_a_limit_is_said_once(analysis):
    player = "level-10 limit.simulations=200"
    game = analysis.game.model_copy(update={"player": player, "simulations": 200, "evaluators": ("shapes-9", player)})
    assert describe_judges(game) == "level-10 (up to 200 simulations a position) with shapes-9"


def test_words(analysis):
    text = "\n".join(describe_game(analysis.game, analysis.positions))
    assert text.startswith(
        "Analysed by strong-13 search.threads=1 (up to 20 simulations a position) with shapes.\nBlack: "
    )
    lines = describe_position(analysis.positions[9])
    assert re.fullmatch(r"Black wins \d+\.\d %, ((Black|White) leads by \d+\.\d|who leads is unclear)\.", lines[0])
    assert any(line.startswith("Black B5 leaves B4 and C4 no way out") for line in lines)
    by_shapes = r"By its shapes shapes gave Black \d+ % before, \d+ % after \(log-odds: .*the turn [+-]\d+\.\d\d\)\."
    assert any(re.fullmatch(by_shapes, line) for line in describe_models(analysis.positions[9].move))
    assert lines[-1].startswith("White to play: ")


def test_a_page_is_well_formed_and_escaped(analysis):
    page = analysis.to_html()
    assert "Anna &lt;b&gt;" in page
    assert "<b>" not in page
    ElementTree.fromstring(page)
    assert page.count("<figure>") == min(6, len(analysis.mistakes()))
    assert analysis._repr_html_().endswith(page)


def test_the_graph_has_gaps_and_dots():
    game = link(
        position(0, 0.5, "white"),
        position(1, 0.9, "black", "A1"),
        position(2, None, "white", "B1"),
        position(3, 0.5, "black", "C1"),
        position(4, 0.8, "white", "D1"),
    )
    svg = ElementTree.fromstring(draw_graph(game))
    wins = next(path.get("d") for path in svg.iter("path") if path.get("class") == "wins")
    assert wins == "M0.0 80.0L180.0 16.0M540.0 80.0L720.0 32.0"
    assert [circle.get("class") for circle in svg.iter("circle")] == ["white"]


def test_a_position(judges, shapes):
    game = Game(5)
    game.play(12)
    analysis = analyze_position(game, judges)
    assert analysis.record.move.move == "C3"
    assert analysis.layer("shapes").values.sum() == pytest.approx(shapes.logit(game.board), abs=1e-3)
    assert analysis._repr_html_().count("<svg") == len(analysis.layers) == 6
    with pytest.raises(KeyError):
        analysis.layer("mood")


def test_a_layer_is_drawn_where_it_has_values(judges):
    game = Game(5)
    layer = analyze_position(game, judges).layer("wins")
    svg = ElementTree.fromstring(draw_layer(game.board, layer))
    squares = [part for part in svg.iter("{http://www.w3.org/2000/svg}rect") if part.get("width") == "28"]
    assert len(squares) == np.count_nonzero(~np.isnan(layer.values))

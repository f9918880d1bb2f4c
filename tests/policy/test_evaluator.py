"""The network as an evaluator: against numpy, its options, its heads, and what it refuses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from helpers.networks import reference_logits, tiny_config, tiny_onnx
from katachi.core.cards import ModelError
from katachi.core.conformance import (
    check_evaluator,
    check_outcome_evaluator,
    check_ownership_evaluator,
    sample_games,
)
from katachi.core.contracts import OwnershipEvaluator
from katachi.core.evaluators import WrongBoardSize
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, Symmetry
from katachi.policy.config import PolicyConfig
from katachi.policy.evaluator import PolicyOptions, PolicyOutcomeEvaluator, open_policy
from katachi.policy.export import export_onnx
from katachi.policy.planes import PLANES
from policy.test_network import shaken


def boards_of(size: int) -> list[Board]:
    return [game.board for game in sample_games(sizes=[size])]


def expected_policy(board: Board, logits: np.ndarray) -> np.ndarray:
    """A softmax over legal points, move by move; the pass has an even share."""
    legal = board.legal_moves()[:-1]
    weights = [np.exp(logit) if may else 0.0 for logit, may in zip(logits, legal, strict=True)]
    passing = 1 / (legal.sum() + 1)
    return np.array([(1 - passing) * weight / max(sum(weights), 1e-300) for weight in weights] + [passing])


@pytest.mark.parametrize("size", [5, 9])
@pytest.mark.parametrize("outputs", [1, 2])
def test_the_policy_is_a_softmax_over_legal_points(size, outputs):
    config = tiny_config(size, outputs=outputs)
    boards = boards_of(size)
    assert {board.to_play for board in boards} == {BLACK, WHITE}
    evaluation = open_policy(config, tiny_onnx(config)).evaluate(boards)
    logits = reference_logits(config, PLANES["maddison-9"].encode(boards))
    for board, policy, rows in zip(boards, evaluation.policy, logits, strict=True):
        row = rows[0 if board.to_play == BLACK else outputs - 1]
        assert policy == pytest.approx(expected_policy(board, row), abs=1e-5)
    assert (evaluation.black_wins == 0.5).all()


@pytest.mark.parametrize("changes", [{}, {"outputs": 2, "value": True}, {"rank_embedding": True}])
@pytest.mark.parametrize("options", [PolicyOptions(), PolicyOptions(symmetries=True, temperature=0.5, threads=2)])
def test_contract(changes, options):
    for size in (2, 9):
        config = tiny_config(size, **changes)
        check_evaluator(open_policy(config, tiny_onnx(config), options), games=sample_games(sizes=[size]))


def test_one_network_for_all_sizes():
    config = tiny_config(None, value=True)
    evaluator = open_policy(config, tiny_onnx(config))
    check_evaluator(evaluator, games=sample_games(sizes=[3, 5, 19]))
    with pytest.raises(WrongBoardSize, match="one size at a time"):
        evaluator.evaluate([Board(5), Board(9)])


def test_boards_of_another_size():
    config = tiny_config(5)
    with pytest.raises(WrongBoardSize, match="5×5 boards, not 9×9"):
        open_policy(config, tiny_onnx(config)).evaluate([Board(9)])


def test_the_value_is_the_movers():
    config = tiny_config(5, value=True)
    boards = boards_of(5)
    logits = reference_logits(config, PLANES["maddison-9"].encode(boards)).mean(axis=(1, 2))
    found = open_policy(config, tiny_onnx(config)).evaluate(boards).black_wins
    for board, logit, black_wins in zip(boards, logits, found, strict=True):
        assert black_wins == pytest.approx(1 / (1 + np.exp(-board.to_play * logit)), abs=1e-5)


def test_ownership_is_blacks_and_only_where_the_network_has_it():
    assert not isinstance(open_policy(tiny_config(5), tiny_onnx(tiny_config(5))), OwnershipEvaluator)
    config = tiny_config(5, ownership=True)
    with pytest.raises(ModelError, match="gives no ownership"):
        open_policy(config, tiny_onnx(tiny_config(5)))
    evaluator = open_policy(config, tiny_onnx(config))
    assert isinstance(evaluator, OwnershipEvaluator)
    boards = boards_of(5)
    logits = reference_logits(config, PLANES["maddison-9"].encode(boards))[:, 0]
    colors = np.array([[board.to_play] for board in boards])
    assert evaluator.ownership(boards) == pytest.approx(colors * np.tanh(logits), abs=1e-5)
    averaging = open_policy(config, tiny_onnx(config), PolicyOptions(symmetries=True))
    check_ownership_evaluator(averaging, games=sample_games(sizes=[5]))


@pytest.mark.parametrize("planes", ["maddison-9", "maddison-36", "mover"])
def test_symmetries_average_what_the_turned_boards_say(planes):
    config = tiny_config(5, planes=planes, value=True, ownership=True)
    onnx = tiny_onnx(config)
    plain, averaging = open_policy(config, onnx), open_policy(config, onnx, PolicyOptions(symmetries=True))
    for board in boards_of(5):
        turned = [board.transformed(symmetry) for symmetry in Symmetry]
        evaluation, owners = plain.evaluate(turned), plain.ownership(turned)
        back = [symmetry.points(5) for symmetry in Symmetry]
        policy = np.mean([row[goes_to] for row, goes_to in zip(evaluation.policy, back, strict=True)], axis=0)
        ownership = np.mean([row[goes_to] for row, goes_to in zip(owners, back, strict=True)], axis=0)
        found = averaging.evaluate([board])
        assert found.policy[0, :-1] == pytest.approx(policy, abs=1e-5)
        assert found.black_wins[0] == pytest.approx(evaluation.black_wins.mean(), abs=1e-5)
        assert averaging.ownership([board])[0] == pytest.approx(ownership, abs=1e-5)


def test_temperature():
    config = tiny_config(5)
    board = boards_of(5)[1]
    logits = reference_logits(config, PLANES["maddison-9"].encode([board]))[0, 0]
    sharp = open_policy(config, tiny_onnx(config), PolicyOptions(temperature=0.25)).evaluate([board]).policy[0]
    assert sharp == pytest.approx(expected_policy(board, logits / 0.25), abs=1e-5)


def test_rank_by_embedding_and_by_plane():
    board = boards_of(5)[1]
    embedded = tiny_config(5, rank_embedding=True)
    for rank in (1, 5, None):
        options = PolicyOptions(rank=rank)
        logits = reference_logits(embedded, PLANES["maddison-9"].encode([board]), rank or 9)[0, 0]
        found = open_policy(embedded, tiny_onnx(embedded), options).evaluate([board]).policy[0]
        assert found == pytest.approx(expected_policy(board, logits), abs=1e-5)
        by_plane = tiny_config(5, planes="maddison-36")
        logits = reference_logits(by_plane, PLANES["maddison-36"].encode([board], rank or 9))[0, 0]
        found = open_policy(by_plane, tiny_onnx(by_plane), options).evaluate([board]).policy[0]
        assert found == pytest.approx(expected_policy(board, logits), abs=1e-5)
    config = tiny_config(5)
    with pytest.raises(ModelError, match="trained without ranks"):
        open_policy(config, tiny_onnx(config), PolicyOptions(rank=5))


def test_the_last_moves_are_seen():
    """Networks see what boards remember: the same stones after another order of moves are evaluated otherwise."""
    config = tiny_config(5)
    evaluator = open_policy(config, tiny_onnx(config))
    first, second = Game(5), Game(5)
    for game, moves in ((first, (0, 6, 12, 18)), (second, (12, 18, 0, 6))):
        for move in moves:
            game.play(move)
    assert first.board == second.board
    one, other = evaluator.evaluate([first.board, second.board]).policy
    assert not np.allclose(one, other, atol=1e-3)


def test_large_logits_and_full_boards():
    """Neither an overflow, nor a board on which no point is legal, is anything but a policy."""
    config = tiny_config(5)
    check_evaluator(open_policy(config, tiny_onnx(config, scale=1e4)), games=sample_games(sizes=[5]))
    board = Board.parse(". X X X X / X X X X X / X X X X X / X X X X X / X X X X .\nWhite to play")
    policy = open_policy(config, tiny_onnx(config)).evaluate([board]).policy[0]
    assert not board.legal_moves()[:-1].any()
    assert policy.tolist() == [0.0] * 25 + [1.0]


def test_answers_that_are_no_numbers():
    config = tiny_config(5)
    with pytest.raises(ModelError, match="not a number"):
        open_policy(config, tiny_onnx(config, scale=1e38)).evaluate(boards_of(5))


def test_several_threads_may_ask_at_once():
    config = tiny_config(9, value=True)
    evaluator = open_policy(config, tiny_onnx(config))
    boards = boards_of(9)
    alone = evaluator.evaluate(boards).policy
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda i: evaluator.evaluate([boards[i % len(boards)]]).policy[0], range(200)))
    for i, answer in enumerate(answers):
        assert answer == pytest.approx(alone[i % len(boards)], abs=1e-5)


@pytest.mark.parametrize(
    ("needed", "given", "reason"),
    [
        ({}, {"rank_embedding": True}, "takes planes and rank, but planes is needed"),
        ({"rank_embedding": True}, {}, "takes planes, but planes and rank is needed"),
        ({"value": True}, {}, "gives no value"),
        ({"outputs": 2}, {}, r"policy of its network has the shape \['B', 1, 25\], not \[None, 2, 25\]"),
        ({"size": 9}, {}, r"planes of its network has the shape \['B', 9, 5, 5\]"),
        ({"planes": "mover"}, {}, "planes of its network has the shape"),
    ],
)
def test_networks_of_another_configuration(needed, given, reason):
    with pytest.raises(ModelError, match=reason):
        open_policy(tiny_config(**{"size": 5, **needed}), tiny_onnx(tiny_config(5, **given)))


def test_damaged_networks_are_refused_with_one_sentence(capfd):
    config = tiny_config(5)
    content = tiny_onnx(config)
    for damaged in (b"", b"no network", content[: len(content) // 2], content[:-1], content[::-1]):
        with pytest.raises(ModelError, match="damaged") as caught:
            open_policy(config, damaged)
        assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_every_flipped_byte_is_an_error_or_a_network():
    config = tiny_config(5)
    content = tiny_onnx(config)
    for at in range(0, len(content), 29):
        damaged = bytearray(content)
        damaged[at] ^= 0x15
        try:
            evaluator = open_policy(config, bytes(damaged))
            evaluator.evaluate([Board(5)])
        except ModelError:
            continue


@pytest.mark.parametrize(
    ("option", "value"),
    [("rank", -30), ("rank", "x"), ("rank", 10), ("temperature", 0.0), ("threads", 0), ("precision", "f")],
)
def test_impossible_options(option, value):
    with pytest.raises(ValueError, match=option):
        PolicyOptions(**{option: value})


def outcome_net(**options: object) -> PolicyOutcomeEvaluator:
    """A network that says all there is, with random weights."""
    everything = dict.fromkeys(("pooling", "komi", "value", "score", "ownership", "kyu_ranks"), True)
    config = PolicyConfig(size=5, layers=5, filters=16, servers="kgs tom", **everything)
    weights = shaken(config).arrays()
    for head in ("value.output", "policy.weight"):
        weights[head] = weights[head] / 50
    found = open_policy(config, export_onnx(config, weights), PolicyOptions(**options))
    assert isinstance(found, PolicyOutcomeEvaluator)
    return found


@pytest.mark.parametrize("symmetries", [False, True])
def test_a_network_of_outcomes_keeps_its_contract(symmetries):
    check_outcome_evaluator(outcome_net(symmetries=symmetries), games=sample_games(sizes=[5]))


def test_komi_is_given_to_the_network():
    board = boards_of(5)[1]
    one = outcome_net()
    wins = [one.at_komi(komi).predict_outcome([board]).black_wins[0] for komi in (0.5, 7.5)]
    assert wins[0] != wins[1]
    assert (
        one.predict_outcome([board]).black_wins[0] == one.at_komi(7.5).predict_outcome([board]).black_wins[0] == wins[1]
    )
    assert one.at_komi(0.5) is one.at_komi(0.5)
    assert one.at_komi(one.options.komi) is one


def test_kyu_ranks_and_servers_are_given_to_the_network():
    board = boards_of(5)[1]
    one = outcome_net()
    policies = [outcome_net(rank=rank).evaluate([board]).policy[0] for rank in ("9d", 9, None)]
    assert (policies[0] == policies[1]).all()
    assert (policies[0] == policies[2]).all()
    ranks = [one.at_rank(grade).evaluate([board]).policy[0] for grade in (9, 1, 0, -14, -29)]
    assert all((first != second).any() for first, second in pairwise(ranks))
    assert (outcome_net(rank="15k").evaluate([board]).policy[0] == ranks[3]).all()
    assert (one.at_rank(-100).evaluate([board]).policy[0] == ranks[4]).all(), "there is nobody weaker than 30k"
    assert (outcome_net(server="tom").evaluate([board]).policy[0] != policies[0]).any()
    with pytest.raises(ModelError, match="knows kgs, tom, not 'fox'"):
        outcome_net(server="fox")
    config = tiny_config(5, rank_embedding=True)
    with pytest.raises(ModelError, match="from 1d to 9d, not 3k"):
        open_policy(config, tiny_onnx(config), PolicyOptions(rank="3k"))

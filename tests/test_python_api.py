"""What a script imports from katachi: models, the tree search, matches and learning, and what mypy knows of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import katachi
from katachi import Board, Decision, Evaluation, Game, Limit, Mcts, load_model, play_match, train_shapes
from katachi.core import contracts, models
from katachi.core.conformance import ConformanceError, check_player, sample_games

SOURCE = Path(__file__).parents[1] / "src"
TYPED = ("own_evaluator", "own_player", "shapes_in_ten_lines", "who_owns_what")
EXAMPLES = [str(SOURCE.parent / "examples" / f"{name}.py") for name in TYPED]
SCRIPT = """
from katachi import Board, Game, Limit, Mcts, OwnershipEvaluator, load_model, play_match, train_shapes

reveal_type(load_model("territory-9").ownership([Board(9)]))
reveal_type(load_model("shapes-9").weights)
reveal_type(load_model("policy-9").at_rank(5))
model = load_model("runs/mine")
reveal_type(model)
model.ownership([Board(9)])
if isinstance(model, OwnershipEvaluator):
    reveal_type(model.ownership([Board(9)]))
class Own:
    def evaluate(self, boards: list[Board]) -> float: return 0.5
Mcts(Own())
reveal_type(play_match(Mcts(model), "alp", games=2, size=5, limit=Limit(seconds=1.0)).win_rate)
reveal_type(train_shapes(5, 100).curve)
"""


class Uniform:
    """Knows nothing, and counts how often it was asked."""

    def __init__(self, wrong: bool = False, fails_after: float = np.inf, value: float = 0.5) -> None:
        self.wrong, self.fails_after, self.value, self.asked = wrong, fails_after, value, 0

    def evaluate(self, boards):
        self.asked += 1
        if self.asked > self.fails_after:
            raise KeyError("weights")
        legal = np.stack([board.legal_moves() for board in boards]).astype(np.float32)
        policy = legal / legal.sum(axis=1, keepdims=True)
        return Evaluation(np.full(len(boards), self.value, dtype=np.float32), policy[:, self.wrong :])


class Passer:
    name = "passer"

    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision()


def run(script: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = folder / "script.py"
    path.write_text(script)
    environment = {"PYTHONPATH": str(SOURCE), "MYPYPATH": str(SOURCE), "PATH": "", "HOME": str(Path.home())}
    return subprocess.run(
        [sys.executable, *command, str(path)], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


def test_importing_katachi_loads_nothing_else(tmp_path):
    script = "import sys, katachi; print([name for name in ('numpy', 'numba', 'pydantic') if name in sys.modules])"
    assert run(script, tmp_path).stdout == "[]\n"


def test_mypy_knows_what_models_can_do(tmp_path):
    follow = ("--follow-imports=silent", "--python-version=3.11", f"--cache-dir={tmp_path / 'cache'}")
    lines = run(SCRIPT, tmp_path, "-m", "mypy", "--strict", *follow, *EXAMPLES).stdout.splitlines()
    assert not [line for line in lines if "examples" in line]
    found = {int(line.split(":")[1]): line.split(": ", 1)[1] for line in lines if line.startswith("script.py")}
    arrays = 'note: Revealed type is "numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.floating[numpy._typing._nbit'
    for number in (4, 5, 11):
        assert found[number].startswith(arrays)
    assert found[6].endswith('contracts.RankedEvaluator"')
    assert found[8].endswith('contracts.Evaluator"')
    assert found[9].startswith('error: "Evaluator" has no attribute "ownership"')
    assert 14 in found  # an evaluator that returns a number
    assert found[15].endswith('float"')
    assert found[16].endswith('list[tuple[int, float]]"')


@pytest.mark.parametrize("path", models.pretrained_models(), ids=lambda path: path.name)
def test_pretrained_models_can_do_what_mypy_is_promised(path):
    promised = {
        contracts.OutcomeEvaluator: (*models.OwningName.__args__, *models.RankedName.__args__),
        contracts.LinearEvaluator: models.LinearName.__args__,
        contracts.RankedOutcomeEvaluator: models.RankedName.__args__,
    }
    model = load_model(path.name)
    for ability, names in promised.items():
        assert isinstance(model, ability) == (path.name in names)


def test_a_board_is_an_array():
    board = Board.parse(". X O / X . . / . . .")
    array = np.asarray(board)
    assert array.dtype == np.int8
    assert array.tolist() == [[0, 1, -1], [1, 0, 0], [0, 0, 0]]
    board.play(8)
    assert array[2, 2] == 0  # it is a copy
    view = np.array(board, copy=False)
    assert np.shares_memory(view, board.record)
    assert not view.flags.writeable
    assert np.asarray(board, dtype=np.float64).dtype == np.float64
    assert np.stack([board, board]).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="copy"):
        np.array(board, dtype=np.float64, copy=False)


def test_the_tree_search_asks_an_object_with_evaluate_and_nothing_else():
    own = Uniform()
    first, second = (Mcts(own, simulations=60, seed=1).search(Game(5)) for _ in range(2))
    assert own.asked > 60
    assert first.simulations == first.visits.sum() == 60
    assert np.array_equal(first.visits, second.visits)


def test_the_value_of_an_evaluator_counts():
    values = [Mcts(Uniform(value=value), simulations=60, seed=1).search(Game(5)).black_wins for value in (0.1, 0.9)]
    assert values[1] - values[0] > 0.1
    sure = Mcts(Uniform(value=0.25), simulations=60, seed=1, value_share=1.0).search(Game(5))
    assert sure.ownership is None  # there was no playout
    assert sure.black_wins < 0.5


def test_the_tree_search_is_a_player():
    players = (Mcts(Uniform(), simulations=20, seed=1) for _ in range(2))
    check_player(*players, games=sample_games(sizes=(3, 5)))


def test_what_goes_wrong_in_an_evaluator_is_raised():
    with pytest.raises(ConformanceError, match=r"policy has the shape \[1, 25\], not \[1, 26\]"):
        Mcts(Uniform(wrong=True)).search(Game(5))
    with pytest.raises(KeyError, match="weights"):
        play_match(Mcts(Uniform(fails_after=20)), "alp", games=2, size=5)
    with pytest.raises(ValueError, match="did you mean exploration"):
        Mcts(exploratoin=1.0)


def test_a_match_counts_both_colors():
    match = play_match(Passer(), "alp", games=6, size=5, komi=0.5, random_plies=0)
    assert (match.win_rate, match.score.losses, len(match.games)) == (0.0, 6, 6)
    assert match.interval[1] == pytest.approx(0.39, abs=0.01)
    assert str(match) == "passer against alp: 0–6, 0.0 % (0–39)"
    assert {result.winner for result in match.results} == {katachi.BLACK, katachi.WHITE}


def test_both_players_may_be_called_the_same():
    even = play_match("random", "random", games=4, size=5, seed=1)
    again = play_match("random", "random", games=4, size=5, seed=1)
    assert even.score == again.score
    assert even.score.games == 4


def test_an_illegal_move_loses_and_is_reported():
    class Cheat(Passer):
        def decide(self, game, limit):
            return Decision(int(np.flatnonzero(game.board.stones)[0]))

    match = play_match(Cheat(), "alp", games=2, size=5)
    assert match.win_rate == 0
    assert "2 by forfeit, the first: passer answered " in str(match)


def test_shapes_are_learned_without_a_folder_and_with_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, curve = train_shapes(size=5, games=300, seed=1, evaluate_every=100, test_games=20)
    assert [games for games, _ in curve] == [100, 200, 300]
    assert not list(tmp_path.iterdir())
    kept = train_shapes(5, 300, seed=1, evaluate_every=100, test_games=20, folder="run")
    assert np.array_equal(kept.model.weights, model.weights)
    assert isinstance(load_model("run"), contracts.LinearEvaluator)

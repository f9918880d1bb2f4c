"""Other datasets, and who wins, by how much, and who owns what."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.networks import tiny_config, tiny_onnx
from helpers.small_sets import label_small_set, make_small_set
from katachi.core.contracts import Evaluation, Outcome
from katachi.core.models import find_model, load_model
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE
from katachi.papers.documents import NOTHING, format_section, share
from katachi.papers.experiment import ExperimentError
from katachi.papers.maddison2014 import figures
from katachi.papers.maddison2014.figures import LAST, PLAYOUTS, Answers, Outcomes, Sets
from katachi.papers.maddison2014.nets import accuracy, model_key
from katachi.policy.evaluator import save_policy
from katachi.policy.measure import PHASES
from katachi.sgf.files import Split


@pytest.fixture(scope="module")
def labeled(tmp_path_factory):
    path = make_small_set(tmp_path_factory.mktemp("labeled"), seed=7, training=1, validation=1, test=6)
    label_small_set(path)
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Networks by what they say: moves, the winner too, the owners too."""
    folder = tmp_path_factory.mktemp("models")
    heads = {"moves": {}, "winner": {"value": True}, "owners": {"value": True, "ownership": True}}
    for name, changes in heads.items():
        config = tiny_config(**changes)
        save_policy(folder / name, config, tiny_onnx(config))
    return {name: str(folder / name) for name in heads}


# Several datasets


def test_one_network_on_several_sets(make_scope, models, games, tmp_path):
    other = make_small_set(tmp_path, seed=9, training=0, validation=0, test=4)
    scope = make_scope("sets", more_data=(other,), models=(models["moves"],), runs=60)
    results = Sets().measure(scope)
    for path, asked in zip((games, other), results["nets"]["moves"], strict=True):
        test = Dataset.open(path).select(5, Split.TEST)
        assert {way: tested["positions"] for way, tested in asked.items()} == {"alone": 60, "averaged": 60}
        assert 1 < asked["alone"]["games"] <= test.size
        assert asked["alone"]["loss"] != asked["averaged"]["loss"]
    rows = Sets().rows(results)
    assert len(rows) == 2 * 2 * 3
    assert (rows[0].id, rows[0].ours) == (
        "sets/moves/set/alone/top-1",
        round(accuracy(results["nets"]["moves"][0]["alone"]).mean, 1),
    )
    text = format_section(Sets(), results, tmp_path)
    assert text.count("| `set`, averaged | 60 |") == 2
    for part in results["nets"]["moves"][0]["alone"]["ranks"]:
        assert f"\n| {part} | " in text


def test_a_part_that_a_set_does_not_have_is_empty(tmp_path):
    tested = {"positions": 100, "games": 10, "loss": 2.0, "top": [40] * 20, "effective": [50.0] * 20}
    parts = [{"phases": {"opening": tested}, "ranks": {rank: tested}} for rank in ("1d", "9d")]
    asked = [dict.fromkeys(("alone", "averaged"), tested | some) for some in parts]
    results = {"sets": [{"name": "weak"}, {"name": "strong"}], "nets": {"net": asked}}
    text = format_section(Sets(), results, tmp_path)
    shown = "40 (27.6 … 53.8)"
    assert share(20, 50).interval == pytest.approx((27.6, 53.8), abs=0.05)
    assert f"| `strong`, alone | 100 | 10 | {shown} | {shown} | {shown} | 2.000 |" in text
    assert f"| 1d | {shown} | {shown} | {NOTHING} | {NOTHING} |" in text


def test_what_sets_and_models_must_be(make_scope, models, tmp_path):
    large = make_small_set(tmp_path, size=6, training=0, validation=0, test=1)
    with pytest.raises(
        ExperimentError, match="moves is not for boards of 6×6: give another --model, or another --data"
    ):
        Sets().measure(make_scope("sets", data=large, models=(models["moves"],)))
    with pytest.raises(ExperimentError, match="folders of one name"):
        Sets().measure(make_scope("sets", models=(models["moves"], models["moves"])))


# Winners, scores and owners


class Speaker:
    """Says the same of every board, for any komi; stones own their points."""

    def __init__(self, komi: float = 0.0) -> None:
        self.komi = komi

    def evaluate(self, boards):
        raise AssertionError("it can say more than this")

    def ownership(self, boards):
        return np.stack([board.stones for board in boards]).astype(np.float32)

    def at_komi(self, komi):
        return Speaker(komi)

    def evaluate_outcomes(self, boards):
        return self.evaluate(boards), self.predict_outcome(boards)

    def predict_outcome(self, boards):
        owners = self.ownership(boards)
        same = np.full(len(boards), 0.75, dtype=np.float32)
        return Outcome(same, same, owners.sum(axis=1) - np.float32(self.komi), same, owners)


class Valuer:
    """Knows who wins and nothing else."""

    def evaluate(self, boards):
        return Evaluation(np.full(len(boards), 0.25, dtype=np.float32), np.zeros((len(boards), 10), dtype=np.float32))


def test_what_is_right_and_how_far_off():
    owners = np.array([1, 1, 1, -1, -1, 0, 0, 1, 1], dtype=np.int8)  # Black leads by 3 before komi
    said = np.array([[1, 0.5, 0.1, -1, -1, 1, -1, 1, -0.2], [-1] * 9], dtype=np.float32)
    answers = Answers(np.array([0.9, 0.4], dtype=np.float32), np.array([4.0, -2.5], dtype=np.float32), said)
    black = figures.compare(answers, 2, 0.5, BLACK, owners)
    assert black == pytest.approx(np.array([[1, 0.01, 6 / 7, 1.5], [0, 0.36, 2 / 7, 5.0]]), abs=1e-6)
    assert figures.compare(answers, 2, 0.5, WHITE, owners)[:, :2] == pytest.approx(np.array([[0, 0.81], [1, 0.16]]))
    assert np.isnan(figures.compare(answers, 2, 0.5, 0, owners)[:, :2]).all()
    assert np.isnan(figures.compare(Answers(None, None, None), 2, 0.5, BLACK, owners)).all()


def test_who_is_asked_what():
    boards = [Board.parse("X . . / . X . / O . ."), Board(3)]
    found = figures.ask_evaluator(Speaker(), boards, 2.5)
    assert (found.black_wins.tolist(), found.black_lead.tolist()) == ([0.75, 0.75], [-1.5, -2.5])
    assert found.ownership[0].tolist() == boards[0].stones.tolist()
    wins, lead, owners = figures.ask_evaluator(Valuer(), boards, 2.5)
    assert (wins.tolist(), lead, owners) == ([0.25, 0.25], None, None)
    played = figures.run_all_playouts(boards, 100.0)
    assert played.black_wins.tolist() == [0, 0]
    assert played.black_lead == pytest.approx(played.ownership.sum(axis=1) - 100, abs=1e-3)


def test_models_are_asked_at_the_komi_of_each_game():
    ask, boards = figures.open_ask(find_model("territory-9")), [Board(5)]
    for komi in (-20.0, 3.5):
        wanted = load_model("territory-9", {"komi": komi})
        found = ask(boards, komi)
        assert found.black_wins == pytest.approx(wanted.evaluate(boards).black_wins)
        assert found.black_lead == pytest.approx(wanted.ownership(boards).sum(axis=1) - komi, abs=1e-4)


def test_one_position_of_each_phase():
    seen = [figures.pick_plies(200, 19, np.random.default_rng(seed)) for seed in range(300)]
    assert {tuple(plies) for plies in seen} == {(*PHASES, LAST)}
    spans = {phase: {plies[phase] for plies in seen} for phase in (*PHASES, LAST)}
    assert (min(spans["opening"]), max(spans["opening"])) == (0, 59)
    assert (min(spans["middle game"]), max(spans["middle game"])) == (60, 149)
    assert (min(spans["endgame"]), max(spans["endgame"]), spans[LAST]) == (150, 199, {200})
    assert list(figures.pick_plies(60, 19, np.random.default_rng(1))) == ["opening", LAST]


def test_all_are_asked_about_the_same_positions(make_scope, models, labeled, monkeypatch, tmp_path):
    monkeypatch.setattr(figures, "PLAYOUTS_RUN", 20)
    asked = {}

    def watch(model, chosen, ask, games):
        def listen(boards, komi):
            asked.setdefault(model, []).append(([board.hash for board in boards], komi))
            return ask(boards, komi)

        return ask_about_games(model, chosen, listen, games)

    ask_about_games = figures._ask_about_games
    monkeypatch.setattr(figures, "_ask_about_games", watch)
    names = (*models.values(), PLAYOUTS)
    results = Outcomes().measure(make_scope("outcomes", data=labeled, models=names, runs=5))
    assert results["games"] == 5
    assert list(results["models"]) == ["moves", "winner", "owners", PLAYOUTS]
    first, *others = asked.values()
    assert len(first) == 5
    assert all(other == first for other in others)
    assert {komi for _, komi in first} == {6.5}
    for name, known in {"moves": "", "winner": "winner brier", "owners": "winner brier owners score"}.items():
        last = results["models"][name]["phases"][LAST]
        assert last["positions"] == 5
        assert [measure for measure in figures.MEASURES if last[measure]] == known.split()
    rows = {row.id: row for row in Outcomes().rows(results)}
    assert rows["outcomes/winner/last-position/owners"].ours is None
    low, high = rows["outcomes/owners/last-position/owners"].interval
    assert 0 <= low <= rows["outcomes/owners/last-position/owners"].ours <= high <= 100
    text = format_section(Outcomes(), results, tmp_path)
    assert "5 labeled test games of `set` on 5×5" in " ".join(text.split())
    assert "\n| last position, 5 positions | winner right, % |" in text
    assert f"\n| `moves` | {NOTHING} | {NOTHING} | {NOTHING} | {NOTHING} |" in text
    assert "\n| 20 playouts | " in text


def test_stones_that_own_their_points_are_right_in_the_end(labeled):
    games = figures.open_games(labeled, [Split.TEST])
    chosen = games.dataset.select(5, Split.TEST).tolist()

    def ask(boards, komi):
        return figures.ask_evaluator(Speaker(), boards, komi)

    found = figures._ask_about_games("speaker", chosen, ask, games)
    last, opening = found["phases"][LAST], found["phases"]["opening"]
    assert (last["owners"], last["score"], last["positions"]) == ([100, 100, 100], [0, 0, 0], len(chosen))
    assert opening["owners"][0] < 50
    winners = games.dataset.games["winner"][chosen]
    right, known = np.count_nonzero(winners == BLACK), np.count_nonzero(winners)
    estimate = share(right, known)
    assert last["winner"] == pytest.approx([estimate.mean, *estimate.interval])
    assert last["brier"][0] == pytest.approx((0.0625 * right + 0.5625 * (known - right)) / known)
    assert found["seconds"] > 0


def test_only_labeled_games_can_be_asked_about(make_scope, games, labeled, models, tmp_path):
    with pytest.raises(ValueError, match="has no labels: katachi data label"):
        Outcomes().measure(make_scope("outcomes", models=(models["winner"],)))
    unknown = make_small_set(tmp_path, training=0, validation=0, test=2)
    label_small_set(unknown, unknown=2)
    with pytest.raises(ExperimentError, match="has no labeled test games: katachi data label"):
        Outcomes().measure(make_scope("outcomes", data=unknown, models=(models["winner"],)))


def test_a_model_that_learned_more_is_another(models, tmp_path):
    config = tiny_config()
    save_policy(tmp_path / "run" / "model", config, tiny_onnx(config, seed=1))
    first = model_key(tmp_path / "run" / "model")
    assert first.startswith("run-")
    save_policy(tmp_path / "run" / "model", config, tiny_onnx(config, seed=2), replace=True)
    assert model_key(tmp_path / "run" / "model") != first

"""What train and reproduce refuse: one sentence, exit code 2, nothing left behind."""

from __future__ import annotations

import json

import pytest

from helpers.small_sets import label_small_set, make_small_set
from katachi.data.importing import import_games

HUGE = "9" * 30

POLICY = "train policy --data SET"
TERRITORY = "train territory --data SET"
CRBM = "train crbm --data SET"
VALUE = "train value templates --set size=5"
TABLE = {
    f"train shapes --games {HUGE}": "games: Input should be less than",
    f"train shapes --seed {HUGE}": "seed: Input should be less than",
    f"train shapes --set test_games={HUGE}": "test_games: Input should be less than",
    f"train shapes --set evaluate_every={HUGE}": "evaluate_every: Input should be less than",
    f"train shapes --runs {HUGE}": "--runs: Input should be",
    f"train shapes --jobs {HUGE}": "is not between 0 and 1,024",
    "train shapes --set average_from=nan": "average_from: ",
    "train shapes --set stepsize=0.1": "there is no setting stepsize; did you mean step_size?",
    "train shapes --resume empty": "empty is not a run that could be resumed",
    "train shapes --resume nowhere --games 3": "--resume takes all settings from the run: give no others",
    "train shapes --from empty": "empty: there is no such model",
    "train shapes --run file.toml": "cannot write to file.toml",
    f"{POLICY} --set batch={HUGE}": "batch: Input should be less than",
    f"{POLICY} --seed {HUGE}": "seed: Input should be less than",
    f"{POLICY} --threads {HUGE}": "--threads: Input should be",
    f"{POLICY} --workers -1": "--workers: Input should be",
    f"{POLICY} --set warmup=nan": "warmup: ",
    f"{POLICY} --set filter=8": "there is no setting filter; did you mean filters?",
    f"{POLICY} file.toml": "there is no setting grow_from",
    f"{POLICY} --size 7": "has no 7×7 games for training",
    "train policy --data empty": "empty was not imported to its end",
    "train policy --data nowhere": "nowhere does not exist",
    "train policy --data MIXED": "holds 5×5, 7×7: say which by --size",
    f"{TERRITORY} --positions {HUGE}": "positions: Input should be less than",
    f"{TERRITORY} --set step_size=nan": "step_size: ",
    f"train territory --self-play {HUGE}": "size: Input should be less than",
    f"train territory --self-play 5 --set games_a_round={HUGE}": "games_a_round: Input should be less than",
    "train territory --data MIXED": "holds 5×5, 7×7: import each size into a set of its own",
    "train territory --data nowhere": "nowhere does not exist",
    f"{CRBM} --set kernels={HUGE}": "kernels: Input should be less than",
    f"{CRBM} --set spread=nan": "spread: ",
    "train crbm --data MIXED": "holds 5×5, 7×7: say which by --size",
    f"{VALUE} --self-play {HUGE}": "self_play: Input should be less than",
    f"{VALUE} --self-play 2 --set epsilon=nan": "epsilon: ",
    "train value nowhere --self-play 2": "nowhere: there is no such model",
    f"train patterns SGF --step {HUGE}": "--step: Input should be",
    "train patterns SGF --large -1": "--large: Input should be",
    "train patterns SGF --seed -1": "--seed: Input should be",
    "train patterns SGF --weakest strong": "strong is not a rank",
    "train patterns file.toml": "there is no game to learn from",
    "reproduce silver2008": "there is no experiment silver2008",
    "reproduce silver2007 --table figure9": "silver2007 has no table figure9",
    "reproduce silver2007 --table figure3 --run file.toml": "file.toml",
    f"reproduce silver2007 --jobs {HUGE}": "is not between 0 and 10,000",
    "reproduce maddison2014 --table table1": "give --data SET",
    "reproduce maddison2014 --table table1 --data nowhere": "nowhere does not exist",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    games = make_small_set(folder)
    label_small_set(games)
    (folder / "mixed").mkdir()
    records = "(;SZ[5];B[aa];W[bb];B[cc])(;SZ[7];B[aa];W[bb];B[cc])"
    (folder / "mixed" / "two.sgf").write_text(records)
    mixed = import_games([folder / "mixed" / "two.sgf"], folder / "mixed" / "set").path
    return {"SET": str(games), "SGF": str(folder / "games.sgf"), "MIXED": str(mixed)}


@pytest.mark.parametrize("command", TABLE)
def test_it_is_refused(run_katachi, files, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.toml").write_text("grow_from = 5\nsize = 7\n")
    ran = run_katachi(*(files.get(word, word) for word in command.split()))
    assert (ran.code, ran.out) == (2, "")
    assert TABLE[command] in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "file.toml"]


def test_a_run_of_another_training_does_not_resume(run_katachi, files, tmp_path):
    run = tmp_path / "run"
    options = ["--size", "5", "--games", "2", "--set", "test_games=2", "--set", "sets=['LI 1x1']", "--run", str(run)]
    assert run_katachi("train", "shapes", *options).code == 0
    ran = run_katachi("train", "territory", "--resume", str(run))
    assert ran.code == 2
    assert f"{run} is not a run of katachi train territory: " in ran.err


def test_json_is_all_that_is_printed_and_the_next_step_is_named(run_katachi, tmp_path):
    run = tmp_path / "run"
    options = ["--size", "5", "--games", "4", "--set", "evaluate_every=2", "--set", "test_games=2"]
    ran = run_katachi("train", "shapes", *options, "--set", "sets=['LI 1x1']", "--run", str(run), "--json")
    (report,) = json.loads(ran.out)["runs"]
    assert (report["run"], report["games"]) == (str(run), 4)
    lines = ran.err.splitlines()
    assert lines[-2:] == [f"katachi: play against it: katachi play {run}", f"katachi: see it: katachi show {run}"]
    assert [line.partition(" games")[0] for line in lines if " of 4 games" in line] == [
        "katachi: 2 of 4",
        "katachi: 4 of 4",
    ]
    again = run_katachi("train", "shapes", "--resume", str(run), "--json")
    assert json.loads(again.out) == json.loads(ran.out)
    assert " of 4 games" not in again.err


def test_the_board_size_is_that_of_the_dataset(run_katachi, files, tmp_path):
    tiny = ["--positions", "8", "--set", "batch=4", "--set", "kernels=2", "--run", str(tmp_path / "run")]
    assert run_katachi("train", "crbm", "--data", files["SET"], *tiny).code == 0
    assert "size = 5\n" in (tmp_path / "run" / "config.toml").read_text()


def test_torchrun_takes_the_command_that_help_names(run_katachi):
    run = pytest.importorskip("torch.distributed.run")
    ran = run_katachi("train", "policy", "--help")
    (line,) = (line.split() for line in ran.out.splitlines() if "torchrun" in line)
    parsed = run.parse_args(line[1:])
    assert (parsed.module, parsed.training_script) == (True, "katachi")
    assert parsed.training_script_args == line[line.index("train") :]

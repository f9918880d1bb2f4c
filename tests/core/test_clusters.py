"""All that is handed out to Ray and to Dask: the same bytes as here, on nodes without a common disk, through losses."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from helpers.settled_games import settled_record
from katachi.analysis.batches import JudgeSettings, Outputs
from katachi.arena.settings import parse_settings
from katachi.arena.tournament import play_tournament
from katachi.cli._training import run_folders, train_and_show
from katachi.cli.setup import _check_nodes
from katachi.core import execution
from katachi.core.execution import Backend, ExecutionError, at_home, cluster_in_use, hand_out, here, use_cluster
from katachi.core.models import PRETRAINED
from katachi.core.training import Observer
from katachi.data.dataset import ANSWERS, LABELS, Dataset
from katachi.data.importing import import_games
from katachi.data.labeling import Marks, Playouts, label_games
from katachi.go.compiling import cache_folder
from katachi.papers.experiment import Budget, Scope, Workers, load_experiment, measure
from katachi.policy import expert
from katachi.policy.expert import ExpertRun, ExpertTraining, Machine
from katachi.shapes.train import TRAINING

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the engines are not ours


class Nodes(NamedTuple):
    """A cluster of two nodes, a folder each for what they keep, and a way to end one that works, and to add one."""

    backend: Backend
    address: str
    folders: list[Path]
    kill: Callable[[], None]


@pytest.fixture(scope="module", params=list(Backend)[1:])
def nodes(request, tmp_path_factory) -> Iterator[Nodes]:
    """Every node has the kernels that this machine has compiled, and else nothing of it."""
    yield from (start_ray if request.param is Backend.RAY else start_dask)(tmp_path_factory.mktemp("nodes"))


def own_disk(folder: Path) -> dict[str, str]:
    folder.mkdir()
    cache_folder().mkdir(parents=True, exist_ok=True)
    (folder / "kernels").symlink_to(cache_folder().resolve())
    return {"NUMBA_CACHE_DIR": str(folder / "kernels"), "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def start_ray(folder: Path) -> Iterator[Nodes]:
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'katachi[ray]'")
    from ray.cluster_utils import Cluster

    sizes = {"object_store_memory": 100 << 20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={**sizes, "num_cpus": 1, "env_vars": own_disk(folder / "0")})
    names = count(1)

    def add() -> object:
        return cluster.add_node(num_cpus=1, env_vars=own_disk(folder / str(next(names))), **sizes)

    others = [add()]

    def kill() -> None:
        cluster.remove_node(others.pop(), allow_graceful=False)
        others.append(add())

    try:
        yield Nodes(Backend.RAY, cluster.address, [folder / "0", folder / "1"], kill)
    finally:
        ray.shutdown()
        cluster.shutdown()


def start_dask(folder: Path) -> Iterator[Nodes]:
    dask = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'katachi[dask]'")
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "memory_limit": 0}
    cluster = dask.LocalCluster(n_workers=2, env=own_disk(folder / "0"), **options)  # workers of one node

    def kill() -> None:
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    try:
        yield Nodes(Backend.DASK, cluster.scheduler_address, [folder / "0"], kill)
    finally:
        cluster.close()


@pytest.fixture(scope="module")
def used(nodes) -> Iterator[Nodes]:
    """One connection for all tests, so that workers start once."""
    with use_cluster(nodes.backend, nodes.address, 2) as jobs:
        assert jobs == 2
        yield nodes


def both(make: Callable[[str, int], object]) -> tuple[object, object]:
    """What is made in this process, and by the cluster."""
    with at_home():
        expected = make("here", 1)
    return make("there", 2), expected


@pytest.fixture
def player(tmp_path) -> str:
    """A player of a file, beside a model: neither is bundled."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model").symlink_to(PRETRAINED / "shapes-5")
    file = tmp_path / "mine" / "player.toml"
    file.write_text('kind = "search"\n[evaluator]\nmodel = "./model"\n')
    return str(file)


def content(folder: Path, pattern: str = "*") -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob(pattern) if path.is_file()}


def test_files_are_kept_on_every_node_once(used, tmp_path):
    (tmp_path / "file").write_bytes(os.urandom(1 << 20))
    found = set(hand_out(here, [(tmp_path / "file",)] * 12, 2, reads=[tmp_path / "file"]))
    assert all(any(path.is_relative_to(folder / "carried") for folder in used.folders) for path in found)
    assert all(path.read_bytes() == (tmp_path / "file").read_bytes() for path in found)
    delivered = [node for node, _ in cluster_in_use().deliveries]
    assert len(found) <= len(set(delivered)) == len(delivered)


def test_a_tournament(used, player, tmp_path):
    settings = parse_settings({"players": {"mine": player, "alp": "alp"}, "games": 6, "size": 5})

    def play(name: str, jobs: int) -> dict[str, bytes]:
        play_tournament(settings.model_copy(update={"jobs": jobs}), tmp_path / name)
        return content(tmp_path / name, "*.sgf")

    there, expected = both(play)
    assert len(expected) == 6
    assert there == expected


def test_a_player_that_a_node_lacks_is_no_lost_game(used, tmp_path, monkeypatch):
    (tmp_path / "engine").write_text("#!/bin/sh\nexit 1\n")
    settings = parse_settings({"players": {"x": f"gtp:{tmp_path / 'engine'}", "alp": "alp"}, "games": 2, "size": 5})
    monkeypatch.setattr("katachi.arena.tournament.check_players", lambda _: ())  # as it is where the engine is
    with pytest.raises(ValueError, match="engine"):
        play_tournament(settings, tmp_path / "run")


def test_self_play_of_an_expert(used, tmp_path, monkeypatch):
    monkeypatch.setattr(expert, "_TOGETHER", 3)
    sizes = {"size": 5, "layers": 3, "filters": 8, "games": 5, "match_pairs": 9}
    tiny = ExpertTraining(first_model="", visits=3, quick_visits=2, match_visits=2, **sizes)

    def play(name: str, jobs: int) -> tuple[list[float], dict[str, bytes]]:
        (tmp_path / name).mkdir()
        run = ExpertRun(tmp_path / name, tiny, Machine(jobs))
        run.begin()
        (run.model(1).parent).mkdir(parents=True)
        run.model(1).symlink_to(run.model(0))
        run.play(1, 0, Observer())
        return run.match(1, 0, Observer()), content(tmp_path / name / "generation-001" / "games")

    there, expected = both(play)
    assert len(expected[1]) == 2
    assert there == expected


def test_an_import_and_labels(used, tmp_path):
    (tmp_path / "games.sgf").write_text("".join(settled_record(seed) for seed in range(40)))

    def label(name: str, jobs: int) -> dict[str, bytes]:
        path = import_games([tmp_path / "games.sgf"], tmp_path / name, jobs=jobs).path
        label_games(Dataset.open(path), [Marks(), Playouts(40)], jobs=jobs)
        return content(path, "*.npy")

    there, expected = both(label)
    assert {LABELS, ANSWERS} <= set(expected)
    assert there == expected


def test_an_analysis(used, player, tmp_path):
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[5]KM[0.5];B[cc];W[bb];B[cb];W[bc];B[bd];W[ab];B[db];W[ad];B[be];W[])")
    settings = JudgeSettings(player=player, models=(str(Path(player).with_name("model")),))

    def analyze(name: str, jobs: int) -> dict[str, bytes]:
        outputs = Outputs(tmp_path / name, html=True, parquet=False)
        outputs.write([tmp_path / "game.sgf"], settings, resume=False, jobs=jobs, watch=lambda _: None)
        return {file: text for file, text in content(tmp_path / name).items() if file != "run.json"}

    there, expected = both(analyze)
    assert {"analysis.jsonl", "game.sgf", "report.html"} <= set(expected)
    assert there == expected


def test_an_experiment(used, tmp_path):
    def learn(name: str, jobs: int) -> dict[str, object]:
        scope = Scope(tmp_path / name, Budget.SMOKE, lambda _: None, 2, Workers(jobs, anywhere=True))
        found = measure(load_experiment("silver2007"), "cascade", scope)["cascade"]
        return {key: value for key, value in found.items() if key != "took"}

    there, expected = both(learn)
    assert there == expected


def test_runs_of_a_training(used, tmp_path):
    settings = TRAINING.parse({"size": 5, "games": 200, "test_games": 10, "first_model": "shapes-5"})

    def train(name: str, jobs: int) -> dict[str, bytes]:
        runs = run_folders(settings, 3, tmp_path / name)
        shown = train_and_show(TRAINING, runs, "a command", jobs=jobs)
        assert all(run.lines[-1].games == 200 for run in shown), "what was measured is shown"
        status = json.loads((tmp_path / name / "seed-1" / "run.json").read_text())
        assert (status["status"], status["folder"]) == ("finished", str(tmp_path / name / "seed-1"))
        return {path: found for path, found in content(tmp_path / name).items() if path.endswith(".safetensors")}

    there, expected = both(train)
    assert there == expected
    assert len(expected) == 6


def test_the_doctor_visits_every_node(used):
    findings = list(_check_nodes(cluster_in_use()))
    assert findings[0] == ("nodes", str(len(used.folders)), True, True)
    looked_at = Counter(finding.what.rpartition(") ")[2] for finding in findings[1:])
    aspects = ("katachi", "libraries", "processor", "kernels", "free disk", "clock")
    assert looked_at == dict.fromkeys(aspects, len(used.folders))
    assert [finding for finding in findings if not finding.ok and finding.essential] == []


def test_an_address_where_nobody_is(nodes, monkeypatch):
    monkeypatch.setattr(execution, "_in_use", None)
    with pytest.raises(ExecutionError, match="there is no"), use_cluster(nodes.backend, "127.0.0.1:9", 1):
        pass


def test_games_of_a_lost_worker_are_played_again(used, tmp_path):
    settings = parse_settings({"players": ["alp", "random"], "games": 12, "size": 5, "jobs": 2})
    seen: list[str] = []

    def watch(record) -> None:
        seen.append(record.id)
        if len(seen) == 3:
            used.kill()

    play_tournament(settings, tmp_path / "there", watch)
    assert len(seen) == len(set(seen)) == 12
    assert len(content(tmp_path / "there", "*.sgf")) == 12

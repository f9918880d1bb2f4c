"""Expert iteration: a network plays with itself by search, learns what the search found, and so on.

A generation of the run is a folder: the games that the best network so far played (``games/``), what was learned from
them and those of the generations before (``learning/``, a run of ``katachi train policy`` with a model), and a match
of the new network with the best one, which a sequential test decides. All of it resumes where it was interrupted.

Anthony, Tian and Barber 2017; Silver et al. 2017; Wu 2019. The network may start from people's games or from nothing.
"""

from __future__ import annotations

import io
import json
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from pydantic import Field

from katachi.core.cards import Metric, Sprt, wilson_interval
from katachi.core.disk import write_atomically
from katachi.core.execution import hand_out
from katachi.core.models import SavedModel, find_model, load_weights, open_model
from katachi.core.training import (
    SEED,
    Count,
    Machine,
    MetricLine,
    Observer,
    Option,
    Release,
    Request,
    Seed,
    TrainingCommand,
    TrainingRun,
    check_settings,
    describe_network,
)
from katachi.data.dataset import SearchedGame, load_searched_games, save_searched_games, write_searched_games
from katachi.features.planes import HIGHEST_RANK
from katachi.policy.config import PolicyConfig, PolicyTraining
from katachi.policy.evaluator import INT8, ONNX, PolicyCard, knows_ranks, save_policy
from katachi.policy.self_play import Contender, SelfPlaySettings, open_records, play_games, play_match
from katachi.sgf.record import format_grade

_TOGETHER: Final = 48  # games that a process plays before it hands them over
_PAIRS_TOGETHER: Final = 8  # the same of pairs of games in a match
_LAYERS: Final = 7  # of a network from nothing
_MODEL: Final = "model"
_MATCH: Final = "match.json"
ELO: Final = "Elo above the first network, by its last match"
_PLAYED: Final = 0  # what seeds are drawn for
_MATCHED: Final = 1


class ExpertTraining(SelfPlaySettings):
    """How games are played, how much is learned from them, and when a network is better."""

    size: int = Field(default=9, ge=5, le=19)
    first_model: str = "policy-9"  # whose network to start from; an empty text is one that knows nothing
    first_rank: str | None = None  # that it is asked about; later networks learn to be of the highest
    layers: int | None = Field(default=None, ge=3, le=99)  # of those that learn: as many as the first has, or 7
    filters: int = Field(default=32, ge=8, le=512)  # of a network from nothing
    generations: Count = 20
    games: Count = 600  # of a generation
    window: Count = 8  # generations whose games are learned from
    positions: Count = 500_000  # that are learned from in a generation
    batch: int = Field(default=64, ge=1, le=4096)
    step_size: float = Field(default=0.001, gt=0, le=10, allow_inf_nan=False)
    replicas: int = Field(default=1, ge=1, le=256)  # processes that learn apart, and meet in the mean of their weights
    match_pairs: Count = 80  # of games with the best network so far, at most
    match_visits: int = Field(default=30, ge=2, le=100_000)
    match_elo: float = Field(default=30.0, gt=0, le=1000)  # stronger, or weaker, between which the test decides
    seed: Seed = 0

    @property
    def grade(self) -> int:
        """That of the player in the games: the highest."""
        return HIGHEST_RANK

    def learning(self, config: PolicyConfig, data: Path, first: Path) -> PolicyTraining:
        """How one generation learns from another model and a window of games."""
        values: dict[str, Any] = {
            **config.model_dump(),
            "data": str(data),
            "first_model": str(first),
            "positions": self.positions,
            "batch": self.batch,
            "optimizer": "muon",
            "step_size": self.step_size,
            "replicas": self.replicas,
            "schedule": "trapezoid",
            "mean_decay": 0.995,
            "value_loss": 1.0,
            "ownership_loss": 1.0,
            "score_loss": 0.25,
            "products": "auto",
            "evaluate_every": self.positions,
            "validation_positions": 2048,
            "seed": self.seed,
        }
        return PolicyTraining(**values)


class _Best(NamedTuple):
    """The network that plays, and its rating."""

    generation: int
    elo: float


class ExpertRun:
    """The folders of a run, and what is done in them."""

    def __init__(self, path: Path, settings: ExpertTraining, machine: Machine) -> None:
        self._path, self._settings, self._machine = path, settings, machine

    def _folder(self, generation: int) -> Path:
        return self._path / f"generation-{generation:03d}"

    def model(self, generation: int) -> Path:
        """Where the network of a generation is; the first one is number 0."""
        return self._folder(generation) / (f"learning/{_MODEL}" if generation else _MODEL)

    def _contender(self, generation: int) -> Contender:
        rank = self._settings.first_rank if generation == 0 else format_grade(self._settings.grade)
        return Contender(str(self.model(generation)), rank if knows_ranks(self.config) else None)

    @property
    def config(self) -> PolicyConfig:
        """That of all networks but the first, which may have fewer layers."""
        first = open_model(self.model(0), PolicyCard).card.config
        return first.model_copy(update={"layers": self._settings.layers or first.layers})

    def begin(self) -> None:
        """Have a first network, once; raises DatasetError if games of people are to begin from, and cannot."""
        settings, folder = self._settings, self.model(0)
        if settings.recorded_share:
            open_records(settings.records, settings.size)
        if folder.exists():
            return
        folder.parent.mkdir(exist_ok=True)
        if settings.first_model:
            copied = folder.with_name("copied")
            shutil.rmtree(copied, ignore_errors=True)
            shutil.copytree(find_model(settings.first_model), copied)
            copied.rename(folder)
        else:
            self._make_network(folder)

    def _make_network(self, folder: Path) -> None:
        from katachi.policy.export import export_onnx
        from katachi.policy.network import PolicyNetwork

        settings = self._settings
        config = PolicyConfig(
            size=settings.size,
            layers=settings.layers or _LAYERS,
            filters=settings.filters,
            rank_embedding=False,
            komi=True,
            pooling=True,
            value=True,
            score=True,
            ownership=True,
        )
        weights = PolicyNetwork.new(config, settings.seed).arrays()
        save_policy(folder, config, export_onnx(config, weights), weights=weights)

    def play(self, generation: int, best: int, observer: Observer) -> list[SearchedGame]:
        """The games of a generation, those that are not there yet played now."""
        settings, folder = self._settings, self._folder(generation) / "games"
        folder.mkdir(parents=True, exist_ok=True)
        counts = [min(_TOGETHER, settings.games - first) for first in range(0, settings.games, _TOGETHER)]
        parts = {folder / f"{number:04d}.npz": count for number, count in enumerate(counts)}
        missing = [(number, path) for number, path in enumerate(parts) if not path.exists()]
        common = (self._contender(best), settings, settings.size)
        calls = [(path, *common, parts[path], (settings.seed, _PLAYED, generation, number)) for number, path in missing]
        done = settings.games - sum(parts[path] for _, path in missing)
        reads = [self.model(best), *([Path(settings.records)] if settings.records else [])]
        for path, games in hand_out(_play_part, calls, self._machine.threads, reads=reads):
            save_searched_games(path, games)
            done += len(games)
            observer.note(f"generation {generation}: {done:,} of {settings.games:,} games")
        return [game for path in parts for game in load_searched_games(path)]

    def learn(self, generation: int, best: int, observer: Observer, command: str) -> None:
        """Let the best network learn from the last games, unless that is done."""
        from katachi.policy.train import train_policy

        if self.model(generation).exists():
            return
        settings, data = self._settings, self._folder(generation) / "window"
        kept = range(max(1, generation - settings.window + 1), generation + 1)
        if not (data / "labels.json").exists():
            parts = [part for each in kept for part in sorted((self._folder(each) / "games").glob("*.npz"))]
            write_searched_games(data, [game for part in parts for game in load_searched_games(part)], settings.grade)
        learning = settings.learning(self.config, data, self.model(best))
        note = f"generation {generation}: {{:,}} of {learning.steps * learning.batch:,} positions"
        machine = self._machine._replace(threads=1)
        run = self._folder(generation) / "learning"
        train_policy(
            learning, run, command=command, machine=machine, tick=lambda done, _: observer.note(note.format(done))
        )
        shutil.rmtree(data)

    def match(self, generation: int, best: int, observer: Observer) -> list[float]:
        """What the new network scored against the best one, until it is clear which is better."""
        path, settings = self._folder(generation) / _MATCH, self._settings
        if path.exists():
            scores: list[float] = json.loads(path.read_text())["scores"]
            return scores
        quick = settings.model_copy(update={"quick_visits": settings.match_visits})
        contenders = self._contender(generation), self._contender(best)
        models = [self.model(generation), self.model(best)]
        rounds = -(-settings.match_pairs // _PAIRS_TOGETHER)
        calls = (
            (contenders, quick, settings.size, _PAIRS_TOGETHER, (settings.seed, _MATCHED, generation, number))
            for number in range(rounds)
        )
        scores = []
        for found in hand_out(play_match, calls, self._machine.threads, in_order=True, reads=models):
            scores += found
            observer.note(f"generation {generation}: won {sum(scores):g} of {len(scores)} games with generation {best}")
            if self.test.outcome(scores) is not None:
                break
        write_atomically(path, json.dumps({"against": best, "scores": scores}) + "\n")
        return scores

    @property
    def test(self) -> Sprt:
        """When a network is better, or is not."""
        return Sprt(-self._settings.match_elo, self._settings.match_elo)

    def is_better(self, scores: Sequence[float]) -> bool:
        """Whether the scores of a match decide for the new network; if they decide nothing, more than half does."""
        decided = self.test.outcome(scores)
        return sum(scores) > len(scores) / 2 if decided is None else decided.accepted > 0


def _play_part(
    path: Path, contender: Contender, settings: ExpertTraining, size: int, games: int, seed: Sequence[int]
) -> tuple[Path, list[SearchedGame]]:
    return path, play_games(contender, settings, size, games, seed)


def elo_of(share: float) -> float:
    """How much stronger one is who scores this share, at most about 800 points."""
    share = min(max(share, 0.01), 0.99)
    return 400 * math.log10(share / (1 - share))


def train_expert(settings: ExpertTraining, directory: Path, command: str, machine: Machine, observer: Observer) -> None:
    """Run all generations in a run directory, or resume there; the best network is the model of the run."""
    expert = ExpertRun(directory, settings, machine)
    with TrainingRun(directory, settings, observer.watch, command) as run:
        run.restore(_Counter())
        run.start_clocks()
        expert.begin()
        _keep_best(run, expert)
        for generation in range(len(run.lines) + 1, settings.generations + 1):
            best, last = _find_best(run.lines), run.lines[-1].values if run.lines else {}
            games = expert.play(generation, best.generation, observer)
            expert.learn(generation, best.generation, observer, command)
            scores = expert.match(generation, best.generation, observer)
            line = {
                "generation": generation,
                "games": last.get("games", 0) + len(games),
                "positions": last.get("positions", 0) + settings.positions,
                "best": best.generation,
                **_describe_games(games),
                **_describe_match(scores, best.elo),
                "is_better": expert.is_better(scores),
                **run.times("seconds"),
            }
            curve = draw_elo([*run.lines, MetricLine(line)])
            run.keep({"generation": np.array([generation])}, MetricLine(line), {"elo.svg": curve})
            observer.tick(generation * settings.games)
            _keep_best(run, expert)
        if _find_best(run.lines).generation:
            run.finish("expert", search="policy")
        else:
            run.finish()


class _Counter:
    """The learner of a run whose state lies in folders."""

    is_finished = False

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Any) -> None:
        """Nothing: what is done is found where it lies."""


def _find_best(lines: Sequence[MetricLine]) -> _Best:
    """The last network that was better than the one before it; the first has a rating of 0."""
    for line in reversed(lines):
        if line.values["is_better"]:
            return _Best(int(line.values["generation"]), float(line.values["elo"]))
    return _Best(0, 0.0)


def _keep_best(run: TrainingRun, expert: ExpertRun) -> None:
    """Let the run have the best network so far as its model, with a card that says how all of it came about."""
    best = _find_best(run.lines).generation
    if not best:
        return
    found, last = run.lines[best - 1].values, run.lines[-1].values
    saved = open_model(expert.model(best), PolicyCard)
    rough = saved.read(INT8) if INT8 in saved.card.files else None
    content = (saved.card.config, saved.read(ONNX), rough, load_weights(saved.path))
    training = run.describe("its own games", last["games"], last["positions"])
    elo = Metric(value=found["elo"], low=found["elo_low"], high=found["elo_high"], games=found["match_games"])
    save_policy(run.path / _MODEL, *content, training, {ELO: elo}, replace=True)


def _describe_games(games: Sequence[SearchedGame]) -> dict[str, float]:
    """How long games were, how Black did, and how often giving up would have been wrong."""
    played_on = [game for game in games if game.gave_up and not math.isnan(game.black_lead)]
    return {
        "moves": round(float(np.mean([game.moves.size for game in games])), 1),
        "black_wins": round(float(np.mean([(1 + game.winner) / 2 for game in games])), 3),
        "resigned": round(float(np.mean([math.isnan(game.black_lead) for game in games])), 3),
        "wrong_to_resign": sum(game.winner == game.gave_up for game in played_on),
        "checked_to_resign": len(played_on),
    }


def _describe_match(scores: Sequence[float], before: float) -> dict[str, float]:
    """What the new network scored, and its rating by that, on the scale of the one before."""
    share, (low, high) = sum(scores) / len(scores), wilson_interval(sum(scores), len(scores))
    return {
        "match_games": len(scores),
        "score": round(share, 4),
        "elo": round(before + elo_of(share), 1),
        "elo_low": round(before + elo_of(low), 1),
        "elo_high": round(before + elo_of(high), 1),
    }


def _summarize(_: ExpertTraining, lines: Sequence[MetricLine]) -> str:
    """Where the run is."""
    if not lines:
        return ""
    last, best = lines[-1].values, _find_best(lines)
    became = "is the best now" if last["is_better"] else "is not better"
    return (
        f"generation {last['generation']} won {last['score']:.0%} of {last['match_games']} games and {became}; "
        f"the best is {best.elo:+.0f} Elo above the first"
    )


def draw_elo(lines: Sequence[MetricLine]) -> str:
    """The curve of Elo by generation as SVG: all networks with their intervals, and the line of the best."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    found = [line.values for line in lines]
    numbers, elo, low, high = (
        np.array([values[name] for values in found]) for name in ("generation", "elo", "elo_low", "elo_high")
    )
    best = [_find_best(lines[: count + 1]) for count in range(-1, len(lines))]
    with rc_context({"svg.hashsalt": "katachi"}):  # the same curves give the same bytes
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        axes.errorbar(numbers, elo, [elo - low, high - elo], fmt="o", capsize=3, label="network, 95 % interval")
        axes.step(range(len(best)), [each.elo for each in best], where="post", label="the best so far")
        axes.set(xlabel="generation", ylabel="Elo above the first network")
        axes.legend()
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


TRAINING: Final = TrainingCommand(
    help="""Let a network play with itself by search, learn what the search found, and so on (expert iteration).

    Every generation plays games, learns from them, and plays a match with the best network so far, which a sequential
    test decides. A run that was interrupted resumes when the same command is given again. --threads is the number of
    processes that play.

    Examples:
      katachi train expert --threads 2
      katachi train expert --set generations=40 --set games=1000 --run runs/expert-9 --threads 2
      katachi train expert --from "" --size 7 --set layers=5 --run runs/expert-7
      katachi train expert --set records=runs/ogs9 --set recorded_share=0.4   (begin also from games of people)
      katachi train expert --resume runs/expert-9 --threads 2
    """,
    options=(
        Option("first_model", "Start from the network of a model; an empty text starts from nothing.", str, "--from"),
        Option("size", "The board size."),
        Option("games", "How many games to play in a generation."),
        SEED,
    ),
    parse=lambda values: check_settings(ExpertTraining, values),
    train=train_expert,
    folder=lambda settings: f"expert-{settings.size}",
    summarize=_summarize,
    unit="games",
    total=lambda settings: settings.generations * settings.games,
    needs=("torch", "onnx"),
    takes_threads=True,
    hands_out=True,
)


class ExpertRelease(Release):
    """The best network of a run, with what its last match and those of ``--result`` say of it."""

    training = TRAINING
    search = "policy"

    def measure(self, settings: ExpertTraining, model: SavedModel[PolicyCard], request: Request) -> dict[str, Metric]:  # noqa: ARG002
        return dict(model.card.metrics)

    def save(self, path: Path, model: SavedModel[PolicyCard], metrics: Mapping[str, Metric], request: Request) -> None:
        """Save what play needs, and the weights."""
        training = describe_network(request.name, model.card.training)
        rough = model.read(INT8) if INT8 in model.card.files else None
        weights = load_weights(model.path)
        save_policy(path, model.card.config, model.read(ONNX), rough, weights, training, metrics, replace=True)

    def describe_player(self, settings: ExpertTraining) -> str:
        return f"A network that learned from its own games, on {settings.size}x{settings.size}, without search"


RELEASE: Final = ExpertRelease()

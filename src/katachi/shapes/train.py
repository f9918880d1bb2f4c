"""Training a player of local shapes from nothing: settings, the loop, and what becomes of the weights.

The defaults are our own recipe: one agent that plays itself, the logistic gradient, all shapes up to 3×3, location
independent and dependent, and the mean of the weights over the second half of the games. The settings of Silver,
Sutton and Müller (2007) are the defaults of ``TdSettings``: a pair, the squared error, a step size of 0.1.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from katachi.core import training as core
from katachi.core.cards import Metric, wilson_interval
from katachi.core.disk import write_atomically
from katachi.core.linear import LinearModel, describe_linear, load_linear, save_linear
from katachi.core.models import SavedModel
from katachi.core.training import Release, Request
from katachi.go.points import MAX_SIZE
from katachi.go.rules import Rules
from katachi.shapes.learner import (
    GrowingLearner,
    Stage,
    TdLearner,
    TdSettings,
    growing_stages,
    load_grown_weights,
    sizes_not_mastered,
)
from katachi.shapes.model import MIN_SIZE
from katachi.shapes.self_play import play_against_alp

_SIZES = ("1x1", "2x1", "2x2", "3x2", "3x3")
_TEST_PLIES = 2  # random moves before a test game: greedy players would repeat themselves
_AGAINST_ALP: Final = "win rate against alp, one ply"  # in cards
_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_CURVE_LENGTH: Final = 30


class ShapeTraining(TdSettings):
    """How to learn, for how long, and how often to look."""

    sets: tuple[str, ...] = Field(
        default=tuple(f"{place} {size}" for place in ("LI", "LD") for size in _SIZES), strict=False
    )
    agents: Literal[1, 2] = 1
    gradient: Literal["squared", "logistic"] = "logistic"
    step_size: float = Field(default=0.3, gt=0, le=1000, allow_inf_nan=False)
    average_from: float = Field(default=0.5, ge=0, le=1)
    games: core.Count = 300_000
    evaluate_every: core.Count = 10_000
    test_games: int = Field(default=200, ge=2, le=10**6)  # of each agent against the average liberty player
    grow_from: int | None = Field(default=None, ge=MIN_SIZE, le=MAX_SIZE)  # the size to start on; the last one
    grow_at: float = Field(default=0.9, gt=0, le=1)  # the win rate of every agent that leads to the next size
    grow_games: core.Count = 100_000  # the most on each size before the last, which has ``games``
    first_model: str | None = None  # a model to start from, of the first size or a smaller one

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.grow_from is not None and self.grow_from > self.size:
            raise ValueError(f"grow_from is at most the size, which is {self.size}")
        self.stages()  # raises ValueError for sets that do not fit on a smaller board
        return self

    def stages(self) -> list[Stage]:
        """What is learned on each size: one stage without ``grow_from``."""
        return growing_stages(self, self.games, self.grow_from or self.size, self.grow_games)


class LearnedShapes(NamedTuple):
    """A model that learned by self-play, and its curve: games on the last size, and the win rate against alp."""

    model: LinearModel
    curve: list[tuple[int, float]]


def train_shapes(
    size: int = 5,
    games: int = 20_000,
    *,
    seed: int = 0,
    folder: Path | str | None = None,
    watch: core.Watcher = core.ignore,
    **settings: Any,
) -> LearnedShapes:
    """Learn from nothing by self-play in a script; ``settings`` are those of ``ShapeTraining``.

    ``folder`` keeps the run, which resumes there, with the model and its player; without one nothing is kept. Of two
    agents the first is returned. Raises TrainingError.

    >>> model, curve = train_shapes(size=5, games=200, evaluate_every=100)
    >>> [games for games, _ in curve]
    [100, 200]
    """
    wanted = _parse({"size": size, "games": games, "seed": seed, **settings})
    lines: list[core.MetricLine] = []

    def keep(line: core.MetricLine) -> None:
        lines.append(line)
        watch(line)

    with TemporaryDirectory() as temporary:
        models = train_in_folder(wanted, Path(temporary, "run") if folder is None else Path(folder), keep)
        model, _ = load_linear(models[0])
    return LearnedShapes(model, [(line.games, line.win_rates[0]) for line in lines if line.size == size])


def train_in_folder(
    settings: ShapeTraining,
    directory: Path,
    watch: core.Watcher = core.ignore,
    command: str = "",
    tick: Callable[[int, int], None] = core.ignore,
) -> list[Path]:
    """Train in a run directory, or resume there, and return the models, one for each agent; each with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` sees now and then how many games are
    played on which size. The same settings end in the same bytes however often the run was interrupted.
    """
    growing = _new_learner(settings)
    with core.TrainingRun(directory, settings, watch, command) as run, core.finish_first() as stop:
        run.restore(growing)

        def slice_is_played(games: int) -> None:
            tick(growing.size, games)
            if stop():
                run.checkpoint(growing.state_dict())
                raise KeyboardInterrupt

        while not growing.is_finished:
            metrics = growing.train_until(settings.evaluate_every, slice_is_played)
            line = core.MetricLine({"size": growing.size, **metrics.values, **_test(growing.learner, settings)})
            growing.grow(line)
            run.keep(growing.state_dict(), line)
        training = run.describe("self-play", settings.games)
        names = ["model"] if settings.agents == 1 else ["model-1", "model-2"]
        features, rates = growing.learner.features, run.lines[-1].win_rates
        for name, weights, rate in zip(names, growing.learner.averaged_weights, rates, strict=True):
            model, metrics_of = LinearModel(features, weights), {_AGAINST_ALP: Metric(value=rate)}
            card = describe_linear(model, Rules(komi=settings.komi), training, metrics_of)
            save_linear(directory / name, model, card, replace=True)
        run.finish("shapes", models=names)
    return [directory / name for name in names]


def _new_learner(settings: ShapeTraining) -> GrowingLearner:
    stages = settings.stages()
    name = settings.first_model
    first = None if name is None else load_grown_weights(name, stages[0].settings)
    return GrowingLearner(stages, settings.grow_at, weights=first)


def _test(learner: TdLearner, settings: ShapeTraining) -> dict[str, float | list[float]]:
    """The share of games that each agent wins against the average liberty player, with what it would be saved with."""
    seeds = np.random.SeedSequence((settings.seed, learner.games)).generate_state(settings.agents)
    wins = [
        play_against_alp(
            learner.features,
            weights,
            settings.test_games,
            int(seed),
            settings.komi,
            random_plies=_TEST_PLIES,
            eye_rule=settings.eye_rule,
        )
        for weights, seed in zip(learner.averaged_weights, seeds, strict=True)
    ]
    return {"test_games": settings.test_games, "win_rates": [won / settings.test_games for won in wins]}


def draw_curves(runs: Sequence[Sequence[core.MetricLine]], path: Path) -> None:
    """Draw the curve of every run as SVG: the mean of its agents by all its games so far, one color for each size."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    sizes = sorted({line.size for lines in runs for line in lines})
    with rc_context({"svg.hashsalt": "katachi"}):  # the same curves give the same bytes
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for lines in runs:
            for size, (games, rates) in _by_size(lines).items():
                axes.plot(games, rates, color=f"C{sizes.index(size)}", label=f"{size}×{size}", linewidth=1.2)
        axes.set(xlabel="games of self-play", ylabel="wins against alp, %", ylim=(0, 101), xlim=(0, None))
        axes.grid(alpha=0.3)
        unique = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend(unique.values(), unique.keys())
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
    write_atomically(path, picture.getvalue())


def _by_size(lines: Sequence[core.MetricLine]) -> dict[int, tuple[list[int], list[float]]]:
    """Games since the start of the run, and percents, for each size."""
    curves: dict[int, tuple[list[int], list[float]]] = {}
    before = last = 0
    for line in lines:
        if line.size not in curves:
            curves[line.size] = ([], [])
            before += last
        last = line.games
        games, rates = curves[line.size]
        games.append(before + line.games)
        rates.append(100 * sum(line.win_rates) / len(line.win_rates))
    return curves


# How it is shown


def _summarize(settings: ShapeTraining, lines: Sequence[core.MetricLine]) -> str:
    """The curve on the last size, and the last win rates with their intervals."""
    if not lines:
        return "nothing was learned"
    last = lines[-1]
    rates = [sum(line.win_rates) / len(line.win_rates) for line in lines if line.size == last.size]
    curve = "".join(_BLOCKS[min(int(rate * len(_BLOCKS)), len(_BLOCKS) - 1)] for rate in rates[-_CURVE_LENGTH:])
    size = f" on {last.size}×{last.size}" if settings.grow_from not in (None, settings.size) else ""
    shown = []
    for rate in last.win_rates:
        low, high = wilson_interval(rate * settings.test_games, settings.test_games)
        shown.append(f"{rate:.1%} ({low:.0%}–{high:.0%})")
    return f"{curve} against alp{size}: {', '.join(shown)}"


def _warn(settings: ShapeTraining, lines: Sequence[core.MetricLine]) -> list[str]:
    """A sentence for every size that was left before it was mastered."""
    games = {stage.settings.size: stage.games for stage in settings.stages()}
    smaller = [size for size in sizes_not_mastered(lines, settings.grow_at) if size < settings.size]
    return [
        f"{size}×{size} was left after {games[size]:,} games without {settings.grow_at:.0%} against alp"
        for size in smaller
    ]


def _scalars(line: core.MetricLine) -> dict[str, float]:
    """``9x9/win_rate_1`` is that of the first agent on 9×9."""
    scalars = {name: line.values[name] for name in ("td_error", "plies", "black_wins")}
    scalars |= {f"win_rate_{agent}": rate for agent, rate in enumerate(line.win_rates, start=1)}
    return {f"{line.size}x{line.size}/{name}": value for name, value in scalars.items()}


def _parse(values: dict[str, Any]) -> ShapeTraining:
    games = values.get("games")
    if "evaluate_every" not in values and isinstance(games, int):
        values["evaluate_every"] = max(1, games // 30)
    return core.check_settings(ShapeTraining, values)


def _train(settings: ShapeTraining, folder: Path, command: str, _: core.Machine, observer: core.Observer) -> None:
    games = {stage.settings.size: stage.games for stage in settings.stages()}

    def tick(size: int, done: int) -> None:
        observer.tick(done, None, games[size])

    train_in_folder(settings, folder, observer.watch, command, tick)


TRAINING: Final = core.TrainingCommand(
    help="""Learn local shapes by self-play, one ply deep (Silver, Sutton and Müller 2007).

    A run that was interrupted resumes when the same command is given again. When it is finished, its folder holds the
    model, a player that katachi play, gtp and match take, and a picture of the learning curve.

    Examples:
      katachi train shapes
      katachi train shapes --size 5 --games 100000 --run runs/five
      katachi train shapes --set step_size=0.1 --set agents=2 --set 'sets=["LI 2x2"]'
      katachi train shapes --size 9 --grow-from 5
      katachi train shapes --size 13 --from runs/nine/model
      katachi train shapes --size 5 --runs 8 --jobs 2
      katachi train shapes --size 5 --runs 50 --jobs 0 --backend ray --cluster head:6379
      katachi play runs/five/player.toml --size 5
    """,
    options=(
        core.Option("size", "The board size."),
        core.Option("games", "How many games to play."),
        core.SEED,
        core.Option("grow_from", "Start on this size, and grow the board."),
        core.FIRST_RUN._replace(help="Start from the weights of a model, grown as needed.", metavar="MODEL"),
    ),
    parse=_parse,
    train=_train,
    folder=lambda settings: f"shapes-{settings.size}",
    summarize=_summarize,
    unit="games",
    can_repeat=True,
    scalars=_scalars,
    warn=_warn,
    draw=lambda runs, folder: draw_curves(runs, folder / "curve.svg"),
)


# How it is released


class ShapeRelease(Release):
    """Measured against the average liberty player."""

    training = TRAINING

    def measure(self, settings: ShapeTraining, model: SavedModel[Any], request: Request) -> Mapping[str, Metric]:
        return {_AGAINST_ALP: request.tools.play("alp", model, settings.komi, request)}

    def save(self, path: Path, model: SavedModel[Any], metrics: Mapping[str, Metric], request: Request) -> None:  # noqa: ARG002
        linear, card = load_linear(model.path)
        save_linear(path, linear, card.model_copy(update={"metrics": dict(metrics)}), replace=True)


RELEASE: Final = ShapeRelease()

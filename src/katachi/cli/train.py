"""``katachi train``: one command for each training that the systems declare, and one for the patterns of the search."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from katachi.cli import _commands as common
from katachi.core.execution import Backend, use_cluster
from katachi.core.registry import find, references, require, systems

if TYPE_CHECKING:
    from katachi.core.training import TrainingCommand

_Runs = Annotated[int, typer.Option(help="How many runs, each with the next seed.", min=1, max=10_000)]
_Jobs = Annotated[
    int, common.number(0, 1024, "Runs at the same time; 0: as many as there are cores for.", "--jobs", "-j")
]
_Players = Annotated[
    int | None,
    common.number(
        0, 10_000, "Workers that play; 0: as many as there are cores for. Without it, --threads.", "--jobs", "-j"
    ),
]
_FORMER: Final = "former_"  # an option by a former name


class TrainingGroup(TyperGroup):
    """Knows the trainings of the registry by name, and imports the one that is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*references("trainings"), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a training by its name or a former one."""
        if cmd_name in references("trainings") or cmd_name in _former_names():
            return _make_command(cmd_name)
        return super().get_command(ctx, cmd_name)


app: Final = typer.Typer(cls=TrainingGroup, add_completion=False, no_args_is_help=True)


@app.callback()
def train() -> None:
    """Learn a player.

    Examples:
      katachi train shapes
      katachi train patterns games/
      katachi train policy --data runs/games
      katachi train expert --threads 2
      katachi train crbm --data runs/games
      katachi train value runs/crbm --data runs/games
      katachi train territory --data runs/games
      katachi train shapes --help
    """


def _former_names() -> dict[str, str]:
    """Trainings by the names that they once had."""
    known = references("trainings")
    return {old: name for system in systems().values() for old, name in system.aliases.items() if name in known}


# A command from the declaration of a training


def _make_command(name: str) -> Any:
    training = find("trainings", name)

    def run(**given: Any) -> None:
        _run(_former_names().get(name, name), training, given)

    parameters = _parameters(training)
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, help=common.keep_layout(cleandoc(training.help)))(run)
    return typer.main.get_command(alone)


def _parameters(training: TrainingCommand) -> list[Parameter]:
    """What the command takes: arguments, options of settings, and what all trainings or those of its kind take."""
    arguments: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for option in training.options:
        if option.is_argument:
            arguments[option.setting] = Annotated[option.type, typer.Argument(help=option.help)]
        else:
            flags = [option.flag] if option.flag else []
            declared = typer.Option(*flags, metavar=option.metavar, help=option.help)
            options[option.setting] = Annotated[option.type | None, declared]
            if option.former:
                hidden = typer.Option(option.former, hidden=True)
                options[_FORMER + option.setting] = Annotated[option.type | None, hidden]
    text = f"Settings as TOML; without it, {training.usual}."
    arguments["file"] = Annotated[Path | None, typer.Argument(help=text)]
    options |= {"change": common.Changes, "run": common.RunFolder, "resume": common.Resume}
    defaults: dict[str, Any] = dict.fromkeys(["file", *options])
    for wanted, added in (
        (training.can_repeat, {"runs": (_Runs, 1), "jobs": (_Jobs, 1)}),
        (training.takes_threads, {"threads": (common.Threads, 1)}),
        (training.hands_out, {"jobs": (_Players, None)}),
        (
            training.can_repeat or training.hands_out,
            {"backend": (common.OnBackend, Backend.LOCAL), "cluster": (common.OnCluster, None)},
        ),
        (training.takes_workers, {"workers": (common.Workers, 1)}),
        (True, {"tensorboard": (common.WithTensorBoard, False), "as_json": (common.AsJson, False)}),
    ):
        for name, (kind, default) in added.items() if wanted else ():
            options[name], defaults[name] = kind, default
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=defaults.get(name, Parameter.empty))
        for name, kind in (arguments | options).items()
    ]


def _run(name: str, training: TrainingCommand, given: Mapping[str, Any]) -> None:
    from katachi.cli._training import collect_values, run_folders, train_and_show, training_folder, values_of_run
    from katachi.core.training import Machine, TrainingError

    require(*training.needs, *(["tensorboardX"] if given["tensorboard"] else []))
    options = {option.setting: given[option.setting] for option in training.options}
    options |= {key.removeprefix(_FORMER): value for key, value in given.items() if value and key.startswith(_FORMER)}
    options = {key: str(value) if isinstance(value, Path) else value for key, value in options.items()}
    file, changes, run, resume = given["file"], given["change"] or [], given["run"], given["resume"]
    if resume is None:
        settings = training.parse(collect_values(file, options, changes))
    else:
        values = values_of_run(resume, [file, run, changes, *options.values()])
        try:
            settings = training.parse(values)
        except TrainingError as error:
            raise TrainingError(f"{resume} is not a run of katachi train {name}: {error}") from None
    former = [old for old, today in _former_names().items() if today == name]
    folder = run or resume or training_folder(settings, training.folder(settings), name, former)
    typer.echo(f"katachi: the run is in {folder}", err=True)
    runs = run_folders(settings, given.get("runs", 1), folder)
    threads = given.get("threads", 1)
    jobs = threads if given.get("jobs") is None else given["jobs"]
    kept = common.interruptible(lambda: f"what was learned is kept in {folder}", "--run", folder)
    with kept, use_cluster(given.get("backend", Backend.LOCAL), given.get("cluster"), jobs) as jobs:
        machine = Machine(jobs if training.hands_out else threads, given.get("workers", 1))
        shown = train_and_show(training, runs, common.given_command(), machine, jobs, tensorboard=given["tensorboard"])
    if not all(display.lines for display in shown):  # a process that helps another one, which keeps the run
        return
    training.draw([display.lines for display in shown], folder)
    for path, display in zip(runs, shown, strict=True):
        prefix = "" if len(runs) == 1 else f"{path.name}: "
        for warning in training.warn(settings, display.lines):
            typer.echo(f"katachi: {prefix}{warning}", err=True)
        if not given["as_json"]:
            typer.echo(f"{prefix}{display.summary()}")
    if given["as_json"]:
        found = [{"run": str(path), **display.lines[-1].values} for path, display in zip(runs, shown, strict=True)]
        typer.echo(json.dumps({"runs": found}))
    for step in training.then:
        typer.echo(f"katachi: {step.format(run=shlex.quote(str(next(iter(runs)))))}", err=True)


@app.command()
def patterns(
    files: Annotated[
        list[Path], typer.Argument(help="SGF files, collections, .gz or .zip of them, and folders.", exists=True)
    ],
    out: Annotated[Path, typer.Option(help="The folder for the weights and their card.")] = Path("runs/patterns"),
    games: Annotated[int, typer.Option(min=1, max=10**12, help="How many games of each file, at most.")] = 2000,
    step: Annotated[int, typer.Option(min=1, max=10**6, help="Learn from every so many moves.")] = 4,
    weakest: Annotated[str | None, typer.Option(help="Leave out games with a player below this rank: 5k, 1d …")] = None,
    large: Annotated[
        int, typer.Option(min=0, max=10**6, help="Learn only patterns larger than 3×3 that were played so often.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Decides which moves of a game are taken.")] = 0,
) -> None:
    """Learn from game records how strong moves are by their 3×3 patterns and tactics (Coulom 2007).

    One game in twenty is held out to measure on, and one in twenty is never looked at. Takes a minute or two.

    Examples:
      katachi train patterns games/ --out runs/patterns
      katachi train patterns strong.sgf.gz --games 5000 --weakest 1d
      katachi train patterns strong.sgf.gz --games 5000 --large 10
    """
    from katachi.search.pattern_learning import PatternTraining, parse_rank, train_patterns

    rank = weakest and parse_rank(weakest)
    settings = PatternTraining(games=games, step=step, weakest=rank, large=large, seed=seed)
    kept = common.interruptible(lambda: "nothing is kept, as the weights come last", then="repeat")
    with kept, common.show_progress() as progress:
        bar = progress.add_task("", total=1)
        card = train_patterns(
            settings, files, out, lambda share: progress.update(bar, completed=share), common.given_command()
        )
    for name, metric in card.metrics.items():
        typer.echo(f"{name}: {metric.value:.4g} {metric.unit}".rstrip())
    typer.echo(f"the weights are in {out}")

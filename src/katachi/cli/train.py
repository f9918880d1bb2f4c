"""``katachi train``: learn a player."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from katachi.cli._options import (
    Changes,
    FirstRun,
    GamesSet,
    Positions,
    Resume,
    RunFolder,
    SameBytes,
    Threads,
    WithTensorBoard,
    Workers,
)

app = typer.Typer(add_completion=False, no_args_is_help=True)


def _given_command() -> str:
    """What the cards of models say they were made by."""
    return " ".join(["katachi", *sys.argv[1:]])


@app.callback()
def train() -> None:
    """Learn a player.

    Examples:
      katachi train shapes
      katachi train patterns games/
      katachi train cnn --data runs/games
      katachi train crbm --data runs/games
      katachi train value runs/crbm --data runs/games
      katachi train territory --data runs/games
      katachi train shapes --help
    """


@app.command()
def shapes(
    file: Annotated[Path | None, typer.Argument(help="Settings as TOML; without it, our own recipe.")] = None,
    size: Annotated[int | None, typer.Option(help="The board size.")] = None,
    games: Annotated[int | None, typer.Option(help="How many games to play.")] = None,
    seed: SameBytes = None,
    grow_from: Annotated[int | None, typer.Option(help="Begin on this size, and grow the board.")] = None,
    start_from: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Begin with the weights of a model, grown as needed.")
    ] = None,
    change: Changes = None,
    run: RunFolder = None,
    runs: Annotated[int, typer.Option(help="How many runs, each with the next seed.", min=1)] = 1,
    jobs: Annotated[int, typer.Option(help="Runs at the same time.", min=1)] = 1,
    tensorboard: WithTensorBoard = False,
) -> None:
    """Learn local shapes by self-play, one ply deep (Silver, Sutton and Müller 2007).

    A run that was interrupted goes on when the same command is given again. When it is through, its folder holds the
    model, a player that katachi play, gtp and match take, and a picture of the learning curve.

    Examples:
      katachi train shapes
      katachi train shapes --size 5 --games 100000 --run runs/five
      katachi train shapes --set step_size=0.1 --set agents=2 --set 'sets=["LI 2x2"]'
      katachi train shapes --size 9 --grow-from 5
      katachi train shapes --size 13 --start-from runs/nine/model
      katachi train shapes --size 5 --runs 8 --jobs 2
      katachi play runs/five/player.toml --size 5
    """
    from katachi.cli._training import read_training, run_folders, train_side_by_side, training_folder
    from katachi.core.training import draw_curves

    options: dict[str, Any] = {
        "size": size,
        "games": games,
        "seed": seed,
        "grow_from": grow_from,
        "first_model": start_from,
    }
    settings = read_training(file, options, change or [])
    folder = run or training_folder(f"shapes-{settings.size}", settings)
    typer.echo(f"katachi: the run is in {folder}", err=True)
    folders = run_folders(settings, runs, folder)
    trained = train_side_by_side(folders, jobs, _given_command(), tensorboard=tensorboard)
    draw_curves([shown.lines for shown in trained], folder / "curve.svg")
    for path, shown in zip(folders, trained, strict=True):
        name = "" if runs == 1 else f"{path.name}: "
        for warning in shown.warnings():
            typer.echo(f"katachi: {name}{warning}", err=True)
        typer.echo(f"{name}{shown.summary()}")
    players = sorted(next(iter(folders)).glob("player*.toml"))
    typer.echo(f"play against it: katachi play {players[0]} --size {settings.size}")


@app.command()
def cnn(
    file: Annotated[Path | None, typer.Argument(help="Settings as TOML; without it, our own recipe.")] = None,
    data: GamesSet = None,
    positions: Positions = None,
    seed: SameBytes = None,
    start_from: FirstRun = None,
    change: Changes = None,
    run: RunFolder = None,
    resume: Resume = None,
    threads: Threads = 1,
    workers: Workers = 1,
    tensorboard: WithTensorBoard = False,
) -> None:
    """Learn from game records which move comes next (Maddison, Huang, Sutskever and Silver 2014).

    A run that was interrupted goes on when the same command is given again. Settings are those of the network and of
    learning: layers, filters, planes, step_size … Their names and values are in config.toml of any run.

    Examples:
      katachi data import games/ --out runs/games
      katachi train cnn --data runs/games
      katachi train cnn --data runs/games --set layers=13 --positions 5000000 --run runs/deep
      katachi train cnn --resume runs/deep
      katachi train cnn --data runs/games --set layers=13 --from runs/deep --run runs/deeper
      torchrun --nproc-per-node 2 -m katachi train cnn --data runs/games --run runs/two
    """
    from katachi.cli._training import require_torch, training_folder

    require_torch()
    from katachi.cli._policy_training import read_policy_training, read_run, train_and_show

    options = {"data": data and str(data), "positions": positions, "seed": seed, "first_model": start_from}
    if resume is None:
        settings = read_policy_training(file, options, change or [])
    else:
        settings = read_run(resume, given=[file, run, change, *options.values()])
    folder = run or resume or training_folder(f"cnn-{settings.size or 'any'}", settings)
    typer.echo(f"katachi: the run is in {folder}", err=True)
    typer.echo(train_and_show(settings, folder, threads, workers, _given_command(), tensorboard=tensorboard))


@app.command()
def territory(
    file: Annotated[Path | None, typer.Argument(help="Settings as TOML; without it, the paper's network.")] = None,
    data: Annotated[Path | None, typer.Option(help="A set of games with labels (katachi data label).")] = None,
    self_play: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Learn from nothing, by playing against itself on this board size."),
    ] = None,
    positions: Positions = None,
    seed: SameBytes = None,
    start_from: FirstRun = None,
    change: Changes = None,
    run: RunFolder = None,
    resume: Resume = None,
    threads: Threads = 1,
    workers: Workers = 1,
    tensorboard: WithTensorBoard = False,
) -> None:
    """Learn from finished games who will own each point (Wu and Baldi 2006).

    A run that was interrupted goes on when the same command is given again. Settings are those of the network and of
    learning: hidden, channels, sweeps, cell, step_size … Their names and values are in config.toml of any run. What was
    learned on one board size is good for all of them.

    Examples:
      katachi data import games/ --out runs/games
      katachi data label runs/games
      katachi train territory --data runs/games
      katachi train territory --data runs/games --set optimizer=sgd --set batch=10 --set step_size=0.01
      katachi train territory --data runs/games --set cell=gated --set hidden=32 --set channels=16 --set sweeps=2
      katachi train territory --resume runs/territory
      katachi train territory --self-play 5 --positions 200000
    """
    from katachi.cli._territory_training import read_bootstrap, read_run, read_territory_training, train_and_show
    from katachi.cli._training import training_folder
    from katachi.territory.train import Machine

    options = {"data": data and str(data), "positions": positions, "seed": seed, "first_model": start_from}
    if resume is not None:
        settings = read_run(resume, given=[file, run, change, self_play, *options.values()])
    elif self_play is not None:
        settings = read_bootstrap(self_play, file, options, change or [])
    else:
        settings = read_territory_training(file, options, change or [])
    folder = run or resume or training_folder("territory", settings)
    typer.echo(f"katachi: the run is in {folder}", err=True)
    typer.echo(train_and_show(settings, folder, Machine(threads, workers), _given_command(), tensorboard=tensorboard))


@app.command()
def crbm(
    file: Annotated[Path | None, typer.Argument(help="Settings as TOML; without it, the paper's.")] = None,
    data: GamesSet = None,
    positions: Positions = None,
    seed: SameBytes = None,
    start_from: FirstRun = None,
    change: Changes = None,
    run: RunFolder = None,
    resume: Resume = None,
    workers: Workers = 1,
    tensorboard: WithTensorBoard = False,
) -> None:
    """Find features of boards without being told anything: a convolutional RBM (Largman and Pham).

    A run that was interrupted goes on when the same command is given again; kernels.svg in its folder shows what it has
    found so far. What the features are worth, katachi train value learns. Settings are those of the CRBM and of
    learning: visible, kernels, kernel_size, units, gibbs_steps, sparsity … All are in config.toml of any run.

    Examples:
      katachi train crbm --data runs/games
      katachi train crbm --data runs/games --set units=oriented-or-off --run runs/oriented
      katachi train crbm --data runs/games --set visible=real --set spread=0.01 --set step_size=0.001 --run runs/real
      katachi train crbm --data runs/games --set persistent=true --set sparsity=1.0
      katachi train crbm --data runs/games --from runs/oriented --set second_kernels=50 --set units=oriented-or-off
      katachi train crbm --resume runs/oriented
      katachi show runs/oriented
    """
    from katachi.cli._crbm_training import read_crbm_run, read_crbm_training, train_crbm_and_show
    from katachi.cli._training import training_folder

    options = {"data": data and str(data), "positions": positions, "seed": seed, "first_model": start_from}
    if resume is None:
        settings = read_crbm_training(file, options, change or [])
    else:
        settings = read_crbm_run(resume, given=[file, run, change, *options.values()])
    folder = run or resume or training_folder(f"crbm-{settings.size}", settings)
    typer.echo(f"katachi: the run is in {folder}", err=True)
    typer.echo(train_crbm_and_show(settings, folder, workers, _given_command(), tensorboard=tensorboard))


@app.command()
def value(
    features: Annotated[str, typer.Argument(help="A CRBM, as a run or a model, or templates.")],
    file: Annotated[Path | None, typer.Argument(help="Settings as TOML; without it, our own recipe.")] = None,
    data: GamesSet = None,
    games: Annotated[int | None, typer.Option(help="How many of its games to learn from.")] = None,
    self_play: Annotated[int | None, typer.Option(help="How many games to play against its former self then.")] = None,
    seed: SameBytes = None,
    start_from: Annotated[
        str | None, typer.Option("--from", metavar="MODEL", help="Begin with the value of a model.")
    ] = None,
    change: Changes = None,
    run: RunFolder = None,
    tensorboard: WithTensorBoard = False,
) -> None:
    """Learn what features are worth, from recorded games by TD(0), and then from games against its former self.

    The features are those of a CRBM, or all 2×2 templates. A run that was interrupted goes on when the same command is
    given again. When it is through, its folder holds the model and a player that katachi play, gtp and match take.

    Examples:
      katachi train value runs/crbm --data runs/games
      katachi train value templates --data runs/games --games 1000 --set passes=5 --run runs/templates
      katachi train value runs/crbm --from runs/value --self-play 500
      katachi play runs/templates/player.toml --size 9
    """
    from katachi.cli._training import training_folder
    from katachi.cli._value_training import read_value_training, train_value_and_show

    options: dict[str, Any] = {
        "features": features,
        "data": data and str(data),
        "games": games,
        "self_play": self_play,
        "seed": seed,
        "first_model": start_from,
    }
    settings = read_value_training(file, options, change or [])
    folder = run or training_folder(f"value-{settings.size}", settings)
    typer.echo(f"katachi: the run is in {folder}", err=True)
    typer.echo(train_value_and_show(settings, folder, _given_command(), tensorboard=tensorboard))
    typer.echo(f"play against it: katachi play {folder / 'player.toml'} --size {settings.size}")


@app.command()
def patterns(
    files: Annotated[
        list[Path], typer.Argument(help="SGF files, collections, .gz or .zip of them, and folders.", exists=True)
    ],
    out: Annotated[Path, typer.Option(help="The folder for the weights and their card.")] = Path("runs/patterns"),
    games: Annotated[int, typer.Option(min=1, help="How many games of each file, at most.")] = 2000,
    step: Annotated[int, typer.Option(min=1, help="Learn from every so many moves.")] = 4,
    weakest: Annotated[str | None, typer.Option(help="Leave out games with a player below this rank: 5k, 1d …")] = None,
    seed: Annotated[int, typer.Option(help="Decides which moves of a game are taken.")] = 0,
) -> None:
    """Learn from game records how strong moves are by their 3×3 patterns and tactics (Coulom 2007).

    One game in twenty is held out to measure on, and one in twenty is never looked at. Takes a minute or two.

    Examples:
      katachi train patterns games/ --out runs/patterns
      katachi train patterns strong.sgf.gz --games 5000 --weakest 1d
    """
    from rich.console import Console
    from rich.progress import Progress

    from katachi.search.pattern_learning import PatternTraining, parse_rank, train_patterns

    settings = PatternTraining(games=games, step=step, weakest=weakest and parse_rank(weakest), seed=seed)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("", total=1)
        card = train_patterns(
            settings, files, out, lambda share: progress.update(bar, completed=share), _given_command()
        )
    for name, metric in card.metrics.items():
        typer.echo(f"{name}: {metric.value:.4g} {metric.unit}".rstrip())
    typer.echo(f"the weights are in {out}")

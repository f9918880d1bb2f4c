"""``katachi warmup``: compile everything now."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final, Literal, NamedTuple

import typer

from katachi.cli._compiling import cache_folder
from katachi.cli._options import AsJson

# ``katachi doctor``: is everything here that katachi needs?

_MIN_PYTHON: Final = (3, 11)
_MIN_FREE_BYTES: Final = 200_000_000
_EXTRAS: Final = {"open_spiel": "katachi[bench]", "atheris": "katachi[fuzz]"}


class Finding(NamedTuple):
    """One thing that was looked at. What is not essential may be missing."""

    what: str
    found: str
    ok: bool
    essential: bool = True


def doctor(as_json: AsJson = False) -> None:
    """Check the set-up: Python, processor, libraries, caches, other programs. Exit code 1 if something essential fails.

    Examples:
      katachi doctor
      katachi doctor --json
    """
    findings = [finding for check in CHECKS for finding in check()]
    healthy = all(finding.ok or not finding.essential for finding in findings)
    if as_json:
        typer.echo(json.dumps({"ok": healthy, "findings": [finding._asdict() for finding in findings]}))
    else:
        _print_table(findings)
    if not healthy:
        raise typer.Exit(1)


def _print_table(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "what", "found")
    for finding in findings:
        mark = "ok" if finding.ok else "FAILS" if finding.essential else "–"
        table.add_row(mark, finding.what, escape(finding.found))
    Console().print(table)


def _python() -> Iterator[Finding]:
    running = f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform(terse=True)})"
    yield Finding("Python", running, sys.version_info >= _MIN_PYTHON)


def _processor() -> Iterator[Finding]:
    yield Finding("processor", f"{_cpu_name()} ({platform.machine()})", ok=True)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding("threads", f"{usable} of {os.cpu_count()}", ok=True)


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _libraries() -> Iterator[Finding]:
    yield Finding("katachi", version("katachi"), ok=True)
    for requirement in requires("katachi") or []:
        if "extra ==" not in requirement:
            name = requirement.replace("=", ">").replace("<", ">").split(">")[0].strip()
            installed = _installed(name)
            yield Finding(name, installed or f"missing ({requirement})", installed is not None)


def _extras() -> Iterator[Finding]:
    for name, extra in _EXTRAS.items():
        installed = _installed(name)
        found = installed or f"not installed: pip install '{extra}'"
        yield Finding(name, found, installed is not None, essential=False)


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _kernel_cache() -> Iterator[Finding]:
    try:
        from katachi.cli._compiling import cache_folder, is_compiled

        folder = cache_folder()
    except RuntimeError as error:  # numba found no place for its cache when the kernels were imported
        yield Finding("kernel cache", f"{error}; set NUMBA_CACHE_DIR to a writable folder", ok=False)
        return
    writable = _is_writable(folder)
    yield Finding("kernel cache", f"{folder} is {'writable' if writable else 'not writable'}", writable)
    state = "compiled" if is_compiled() else "not compiled yet: katachi warmup does it"
    yield Finding("kernels", state, ok=True)


def _is_writable(folder: Path) -> bool:
    """By trying: permissions alone do not tell of full and read-only disks."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"katachi")
    except OSError:
        return False
    return True


def _programs() -> Iterator[Finding]:
    gnugo = shutil.which("gnugo", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/games")))
    yield Finding("GNU Go", gnugo or "not found: matches against it need it", gnugo is not None, essential=False)
    compiler = shutil.which("g++")
    yield Finding("g++", compiler or "not found: the C++ twin is not measured", compiler is not None, essential=False)


def _disk() -> Iterator[Finding]:
    free = shutil.disk_usage(Path.cwd()).free
    yield Finding("free disk here", f"{free / 1e9:.1f} GB", free >= _MIN_FREE_BYTES, essential=False)


CHECKS: Final[tuple[Callable[[], Iterator[Finding]], ...]] = (
    _python,
    _processor,
    _libraries,
    _kernel_cache,
    _programs,
    _disk,
    _extras,
)


# Warmup


def warmup() -> None:
    """Compile all kernels now and keep them on disk, so that no later command waits for it.

    Example:
      katachi warmup
    """
    from rich.console import Console
    from rich.progress import Progress

    start = time.perf_counter()
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(STAGES))
        for name, compile_stage in STAGES.items():
            progress.update(task, description=name)
            if not console.is_terminal:
                typer.echo(f"katachi: compiling {name}", err=True)
            compile_stage()
            progress.advance(task)
    typer.echo(f"all kernels are compiled ({time.perf_counter() - start:.1f} s) and kept in {cache_folder()}")


def _rules() -> None:
    from katachi.go.game import Game
    from katachi.go.points import BLACK

    game = Game(size=5)
    for move in (0, 1, 7, 12):
        game.play(move)
    game.undo()
    game.setup(empty=[0])
    game.legal_moves()
    board = game.board
    board.chain(7), board.liberties(7), board.is_own_eye(0, BLACK)
    board.legal_moves()


def _playouts() -> None:
    from katachi.go.board import Board
    from katachi.go.playouts import run_playouts

    run_playouts(Board(5), 1, seed=0, first_plays=True)


def _informed_playouts() -> None:
    import numpy as np

    from katachi.go.board import Board
    from katachi.search.kernels.playouts import fill_pattern_prior
    from katachi.search.pattern_learning import judge, learn_weights, list_choices
    from katachi.search.playouts import new_playouts, run_informed_playouts
    from katachi.search.settings import PlayoutSettings
    from katachi.sgf import parse_sgf

    run_informed_playouts(Board(5), PlayoutSettings(), 1, seed=0)
    fill_pattern_prior(Board(5).record, new_playouts(PlayoutSettings(), 1, seed=0), np.zeros(25))
    choices = list_choices(parse_sgf("(;SZ[5];B[aa];W[bb];B[cc])")[0], step=1, first=0)
    judge(learn_weights(choices, iterations=1), choices)


def _scoring() -> None:
    from katachi.go.board import Board
    from katachi.go.scoring import area_score, estimate_status, territory_score

    board = Board(5)
    board.play(12)
    area_score(board), territory_score(board)
    estimate_status(board, playouts=1)


def _ladders() -> None:
    from katachi.go.board import Board
    from katachi.go.reading import captures_in_ladder, escapes_from_ladder, ladder_captures, read_ladder

    board = Board(5)
    board.place(black=[11, 13, 7], white=[12])
    read_ladder(board, 12)
    read_ladder(board, 12, attacker_first=False)
    captures_in_ladder(board, 17), escapes_from_ladder(board, 17)
    ladder_captures(board)


def _records() -> None:
    from katachi.sgf import parse_sgf

    parse_sgf("(;SZ[5];B[aa];W[bb];B[cc])")[0].replay_to_end()


def _batches() -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import numpy as np

    from katachi.data.batches import Batches
    from katachi.data.dataset import SPLITS
    from katachi.data.importing import import_games
    from katachi.policy.planes import PLANES
    from katachi.territory.learner import Draw, TargetSettings, replay

    with TemporaryDirectory() as name:
        record = Path(name, "game.sgf")
        record.write_text("(;SZ[5];B[aa];W[bb];B[cc])")
        games = import_games([record], Path(name, "set"))
        Batches(games, PLANES["mover"], batch=1, split=SPLITS[games.games["split"][0]])[0]
        first = np.zeros(1, dtype=np.int64)
        replay(games, np.zeros((1, 25), dtype=np.int8), Draw(first, first, first, first), TargetSettings())


def _players() -> None:
    from katachi.core.contracts import Limit
    from katachi.go.game import Game
    from katachi.players.simple import AlpPlayer, InfluencePlayer, RandomPlayer

    for player in (RandomPlayer(), AlpPlayer(), InfluencePlayer()):
        player.decide(Game(size=5), Limit())


_FORMS: Final[tuple[tuple[Literal["fast", "online"], tuple[str, ...]], ...]] = (
    ("fast", ("LI 2x2",)),
    ("online", ("LI 2x2", "LI 4x3")),
)


def _learning() -> None:
    from katachi.shapes.alp import play_against_alp
    from katachi.shapes.learner import TdLearner, TdSettings

    online = TdSettings(size=5, mode="online", sets=("LI 2x2", "LI 4x3"))
    liberties = [TdSettings(size=5, mode=mode, sets=sets, liberty_sets=("LI 2x2",)) for mode, sets in _FORMS]
    for settings in (TdSettings(size=5), online, online.model_copy(update={"cascade": True}), *liberties):
        learner = TdLearner(settings, total_games=2)
        learner.train(2)
        play_against_alp(learner.features, learner.weights[0], games=2, seed=0)


def _features() -> None:
    from katachi.go.board import Board
    from katachi.policy.planes import PLANES
    from katachi.shapes.features import LocalShapes
    from katachi.shapes.liberty import LibertyShapes
    from katachi.shapes.sets import ShapeSet

    for planes in PLANES.values():
        planes.encode([Board(5)])
    sets = [ShapeSet.parse(name) for name in ("LI 1x1", "LD 3x3")]
    LocalShapes(5, [*sets, ShapeSet.parse("LD 4x4")]).active(Board(5))
    LibertyShapes(5, sets).active(Board(5))


def _point_inputs() -> None:
    import numpy as np

    from katachi.features.influence import INFLUENCES, find_groups, map_influence
    from katachi.go.board import Board
    from katachi.territory.inputs import PointInputs, Propensity, propensity_of

    board, owners, propensity = Board(5), np.zeros(25, dtype=np.int8), Propensity()
    propensity.count([board], owners[None])
    propensity.count_game(board, np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int8), owners)
    find_groups(board)
    map_influence(board, INFLUENCES["exact"])
    propensity_of(board, propensity.table())
    PointInputs().encode([board])


def _models() -> None:
    import numpy as np

    from katachi.go.board import Board
    from katachi.shapes.features import LocalShapes
    from katachi.shapes.liberty import CombinedShapes, LibertyShapes
    from katachi.shapes.model import FusedLinearModel
    from katachi.shapes.sets import ShapeSet

    sets = [ShapeSet.parse("LI 2x2")]
    features = CombinedShapes(LocalShapes(5, sets), LibertyShapes(5, sets, tabled=True))
    model = FusedLinearModel(features, np.zeros(features.size, dtype=np.float32))
    model.evaluate([Board(5)])
    model.afterstate_log_odds(Board(5))
    model.kernel(Board(5).record, model.parameters)


def _networks() -> None:
    import numpy as np

    from katachi.policy.kernels import convolutions as _normalizing
    from katachi.policy.kernels import convolutions as _winograd

    boards, scratch = (np.zeros(length, dtype=np.float32) for length in (128, 864))  # one 4×4, 8 channels
    for kind in (np.float32, np.uint16):  # uint16 is bfloat16
        tiles = np.zeros(288, dtype=kind)
        _winograd.transform_inputs(boards, 0, 1, 4, 8, tiles, 8, scratch)
        _winograd.transform_outputs(tiles, 8, boards, 0, 1, 4, 8, scratch)
        _winograd.transform_output_gradients(boards, 0, 1, 4, 8, tiles, 8, scratch)
        _winograd.transform_input_gradients(tiles, 8, boards, 0, 1, 4, 8, scratch)
    _normalizing.sum_squares(boards, 8, np.zeros(16))
    _normalizing.scale_and_rectify(boards, np.zeros(16, dtype=np.float32), boards, boards)
    _normalizing.sum_gradients(boards, boards, boards, 8, np.zeros(16))
    _normalizing.spread_gradients(boards, boards, boards, np.zeros(24, dtype=np.float32), boards, boards)


def _territory() -> None:
    import numpy as np

    from katachi.go.board import Board
    from katachi.territory.inputs import PointInputs
    from katachi.territory.network import DagRnn, DagRnnConfig

    inputs = PointInputs()
    net = DagRnn.new(DagRnnConfig(), inputs, seed=0)
    boards = inputs.encode([Board(5)])
    net.ownership(boards, 5)
    net.gradient(boards, 5, np.zeros((1, 25), dtype=np.float32))


def _searches() -> None:
    import numpy as np

    from katachi.core.contracts import Limit
    from katachi.go.game import Game
    from katachi.search.alphabeta import AlphaBetaSearch
    from katachi.search.kernels.alphabeta import no_sweep
    from katachi.search.one_ply import GreedySearch, sensible_captures
    from katachi.search.settings import AlphaBetaSettings, GreedySettings
    from katachi.shapes.features import LocalShapes
    from katachi.shapes.model import FusedLinearModel
    from katachi.shapes.sets import ShapeSet

    features = LocalShapes(5, [ShapeSet.parse("LI 2x2")])
    model = FusedLinearModel(features, np.zeros(features.size, dtype=np.float32))
    model.evaluate([Game(5).board])
    for search in (GreedySearch(model, GreedySettings()), AlphaBetaSearch(model, AlphaBetaSettings(quiescence=1))):
        search.search(Game(5), Limit(depth=2), np.random.default_rng(0))
    sensible_captures(Game(5).board)
    no_sweep(Game(5).board.record, model.parameters, np.zeros(26))


def _tree_search() -> None:
    import numpy as np

    from katachi.core.contracts import Limit
    from katachi.go.game import Game
    from katachi.search.kernels.mcts import no_value
    from katachi.search.mcts import MctsSearch
    from katachi.search.mcts_tree import MctsTree
    from katachi.search.settings import MctsSettings

    MctsTree(5, megabytes=1).boards(np.zeros(1, dtype=np.int64))
    search = MctsSearch(None, MctsSettings(megabytes=1, expand_after=0, shares_positions=True))
    game = Game(5)
    for _ in range(2):  # the second goes on with the tree of the first
        game.play(search.search(game, Limit(simulations=50), np.random.default_rng(0)).move)
    no_value(game.board.record, (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.float32)))


def _td_search() -> None:
    import numpy as np

    from katachi.core.contracts import Limit
    from katachi.go.game import Game
    from katachi.search.td import TdSearch
    from katachi.shapes.features import LocalShapes
    from katachi.shapes.model import FusedLinearModel
    from katachi.shapes.sets import ShapeSet

    features = LocalShapes(5, [ShapeSet.parse("LI 2x2")])
    search = TdSearch(FusedLinearModel(features, np.zeros(features.size, dtype=np.float32)))
    search.search(Game(5), Limit(simulations=2), np.random.default_rng(0))
    search.memory.evaluate([Game(5).board])


def _crbm() -> None:
    import numpy as np

    from katachi.core.linear import LinearModel
    from katachi.crbm.config import CrbmConfig
    from katachi.crbm.evaluator import CrbmFeatures
    from katachi.crbm.features import STONES
    from katachi.crbm.value import LinearTdLearner, LinearTdSettings, link_afterstates
    from katachi.go.board import Board

    config = CrbmConfig(size=5, kernels=1)
    zeros = {name: np.zeros(shape, dtype=np.float32) for name, shape in config.weight_shapes().items()}
    features = CrbmFeatures(config, zeros)
    STONES.encode([Board(5)])
    learner = LinearTdLearner(features, LinearTdSettings())
    learner.update(link_afterstates(features, [Board(5)], winner=1))
    LinearModel(features, learner.weights).evaluate([Board(5)])


STAGES: Final[dict[str, Callable[[], None]]] = {
    "rules": _rules,
    "playouts": _playouts,
    "informed playouts": _informed_playouts,
    "scoring": _scoring,
    "ladders": _ladders,
    "records": _records,
    "batches": _batches,
    "players": _players,
    "features": _features,
    "point inputs": _point_inputs,
    "models": _models,
    "networks": _networks,
    "territory": _territory,
    "CRBMs": _crbm,
    "learning": _learning,
    "searches": _searches,
    "tree search": _tree_search,
    "TD search": _td_search,
}

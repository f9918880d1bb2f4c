"""``katachi warmup``: compile everything now."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Literal

import typer

from katachi.cli._compiling import cache_folder


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
    from katachi.search.kernels._pattern_prior import fill_pattern_prior
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
    from katachi.go.scoring import area_score, territory_score
    from katachi.go.status import estimate_status

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
    from katachi.data.dataset_import import import_games
    from katachi.policy.planes import PLANES
    from katachi.territory.territory_batches import Draw, TargetSettings, replay

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
    from katachi.shapes.liberty import LibertyShapes
    from katachi.shapes.local_shapes import LocalShapes
    from katachi.shapes.sets import ShapeSet

    for planes in PLANES.values():
        planes.encode([Board(5)])
    sets = [ShapeSet.parse(name) for name in ("LI 1x1", "LD 3x3")]
    LocalShapes(5, [*sets, ShapeSet.parse("LD 4x4")]).active(Board(5))
    LibertyShapes(5, sets).active(Board(5))


def _point_inputs() -> None:
    import numpy as np

    from katachi.features.chains import find_groups
    from katachi.features.influence import INFLUENCES, map_influence
    from katachi.go.board import Board
    from katachi.territory.inputs import PointInputs
    from katachi.territory.propensity import Propensity, propensity_of

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
    from katachi.shapes.combined_shapes import CombinedShapes
    from katachi.shapes.liberty import LibertyShapes
    from katachi.shapes.local_shapes import LocalShapes
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

    from katachi.policy.kernels import _normalizing
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
    _normalizing.sum_slopes(boards, boards, boards, 8, np.zeros(16))
    _normalizing.spread_slopes(boards, boards, boards, np.zeros(24, dtype=np.float32), boards, boards)


def _territory() -> None:
    import numpy as np

    from katachi.go.board import Board
    from katachi.territory.dag_rnn import DagRnn
    from katachi.territory.dag_rnn_config import DagRnnConfig
    from katachi.territory.inputs import PointInputs

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
    from katachi.search.moves import sensible_captures
    from katachi.search.one_ply import GreedySearch
    from katachi.search.settings import AlphaBetaSettings, GreedySettings
    from katachi.shapes.local_shapes import LocalShapes
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
    from katachi.shapes.local_shapes import LocalShapes
    from katachi.shapes.model import FusedLinearModel
    from katachi.shapes.sets import ShapeSet

    features = LocalShapes(5, [ShapeSet.parse("LI 2x2")])
    search = TdSearch(FusedLinearModel(features, np.zeros(features.size, dtype=np.float32)))
    search.search(Game(5), Limit(simulations=2), np.random.default_rng(0))
    search.memory.evaluate([Game(5).board])


def _crbm() -> None:
    import numpy as np

    from katachi.crbm.crbm_config import CrbmConfig
    from katachi.crbm.evaluator import CrbmFeatures
    from katachi.crbm.linear_td import LinearTdLearner, LinearTdSettings, link_afterstates
    from katachi.crbm.point_states import STONES
    from katachi.go.board import Board
    from katachi.shapes.model import LinearModel

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

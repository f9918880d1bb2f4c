"""``katachi warmup``: compile everything now."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

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
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(STAGES))
        for name, compile_stage in STAGES.items():
            progress.update(task, description=name)
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
    from katachi.go.ladders import captures_in_ladder, escapes_from_ladder, ladder_captures, read_ladder

    board = Board(5)
    board.place(black=[11, 13, 7], white=[12])
    read_ladder(board, 12)
    read_ladder(board, 12, attacker_first=False)
    captures_in_ladder(board, 17), escapes_from_ladder(board, 17)
    ladder_captures(board)


def _records() -> None:
    from katachi.sgf import parse_sgf

    parse_sgf("(;SZ[5];B[aa];W[bb];B[cc])")[0].replay_to_end()


def _players() -> None:
    from katachi.go.game import Game
    from katachi.interfaces import Limit
    from katachi.players.simple import AlpPlayer, InfluencePlayer, RandomPlayer

    for player in (RandomPlayer(), AlpPlayer(), InfluencePlayer()):
        player.decide(Game(size=5), Limit())


STAGES: Final[dict[str, Callable[[], None]]] = {
    "rules": _rules,
    "playouts": _playouts,
    "scoring": _scoring,
    "ladders": _ladders,
    "records": _records,
    "players": _players,
}

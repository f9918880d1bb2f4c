"""A first look: katachi learns 5×5 Go from scratch, shows the shapes it learned and plays with them (``make demo``).

Then the board opens in the browser, if there is a terminal and ``KATACHI_NO_SERVE=1`` is not set.

Run it with: python examples/demo.py [GAMES]       (about half a minute, without the compilation)
"""

import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, Popen

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel

from katachi import BLACK, WHITE, Game, Limit, load_player
from katachi.cli import main
from katachi.cli._training import LearningCurve
from katachi.core.linear import load_linear
from katachi.core.registry import resolve, warmups
from katachi.shapes.train import TRAINING, ShapeTraining

SIZE = 5
BOARD_USES = ("rules", "scoring", "playouts", "influence", "ladders", "informed playouts", "tree search")


def prepare(stages: Iterable[str]) -> None:
    """Compile what is needed next: by playing, and for the board."""
    play("shapes-5")
    for stage in stages:
        resolve(warmups()[stage])()


def show_shapes(console: Console, folder: Path, shown: int = 6) -> None:
    """Draw the shapes with the largest weights; X is a stone of the player who has just moved."""
    model = load_linear(folder / "model")[0]
    largest = abs(model.weights).argsort()[: -shown - 1 : -1]
    console.rule("what it learned: the shapes with the largest weights")
    console.print(Columns([Panel(f"{model.features.describe(i)}\n{model.weights[i]:+.2f}", width=39) for i in largest]))


def play(player: str) -> Game:
    """Play one game against the average liberty player."""
    game, players = Game(SIZE), {BLACK: load_player(player, seed=1), WHITE: load_player("alp", seed=1)}
    while not game.is_over and len(game.moves) < 3 * SIZE * SIZE:
        game.play(players[game.to_play].decide(game, Limit()).move)
    return game


def should_open_board() -> bool:
    """Whether a user is there to play. The console cannot say: FORCE_COLOR makes it a terminal in a pipe too."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("KATACHI_NO_SERVE", "") in ("", "0")


if __name__ == "__main__":
    screen, games = Console(highlight=False), int([*sys.argv, 300_000][1])
    run = next(path for n in count(1) if not (path := Path("runs") / f"demo-{n}").exists())
    settings = ShapeTraining(size=SIZE, games=games, evaluate_every=max(1, games // 50), test_games=1000, seed=1)
    screen.rule(f"learning {SIZE}×{SIZE} Go from scratch: {games:,} games of self-play")
    code = f"import runpy; runpy.run_path({__file__!r})['prepare']({BOARD_USES if should_open_board() else ()})"
    with Popen([sys.executable, "-c", code], stderr=DEVNULL) as behind, ExitStack() as at_the_end:
        at_the_end.callback(behind.terminate)  # what it has compiled is on disk
        LearningCurve(TRAINING, settings, screen).train(run, "examples/demo.py")
        show_shapes(screen, run)
        screen.print(game := play(str(run / "player.toml")), f"shapes (X) against alp (O): {game.result()}", sep="\n")
        screen.print(f"your turn: .venv/bin/katachi serve {run / 'player.toml'}", soft_wrap=True)
        if should_open_board():
            main(["serve", str(run / "player.toml"), "--data", str(run / "board")])

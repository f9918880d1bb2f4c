"""A first look: katachi learns 5×5 Go from scratch, shows the shapes it learned and plays with them (``make demo``).

Then the board opens in the browser, if there is a terminal and ``KATACHI_NO_SERVE=1`` is not set.

Run it with: python examples/demo.py [GAMES]       (about half a minute, without the compilation)
"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel

from katachi import BLACK, WHITE, Game, Limit, load_player
from katachi.cli import main
from katachi.cli._training import train_and_show
from katachi.core.linear import load_linear
from katachi.shapes.train import TRAINING, ShapeTraining

SIZE = 5
GAMES = 300_000


def learn(console: Console, games: int) -> Path:
    """Learn by self-play in a new folder, with the learning curve on the screen."""
    folder = next(path for n in count(1) if not (path := Path("runs") / f"demo-{n}").exists())
    settings = ShapeTraining(size=SIZE, games=games, evaluate_every=max(1, games // 50), test_games=1000, seed=1)
    console.rule(f"learning {SIZE}×{SIZE} Go from scratch: {games:,} games of self-play")
    (run,) = train_and_show(TRAINING, {folder: settings}, "examples/demo.py")
    console.print(run.summary())
    return folder


def show_shapes(console: Console, folder: Path, shown: int = 6) -> None:
    """Draw the shapes with the largest weights; X is a stone of the player who has just moved."""
    model, _ = load_linear(folder / "model")
    largest = np.argsort(-np.abs(model.weights))[:shown].tolist()
    texts = [f"{model.features.describe(i)}\n{model.weights[i]:+.2f}" for i in largest]
    console.print(Columns([Panel(text, width=39) for text in texts]))


def show_game(console: Console, folder: Path) -> None:
    """Play one game against the average liberty player."""
    game = Game(SIZE)
    players = {BLACK: load_player(str(folder / "player.toml"), seed=1), WHITE: load_player("alp", seed=1)}
    while not game.is_over and len(game.moves) < 3 * SIZE * SIZE:
        game.play(players[game.to_play].decide(game, Limit()).move)
    console.print(game, f"shapes (X) against alp (O): {game.result()}", sep="\n", highlight=False)


def should_open_board() -> bool:
    """Whether a user is there to play. The console cannot say: FORCE_COLOR makes it a terminal in a pipe too."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("KATACHI_NO_SERVE", "") in ("", "0")


if __name__ == "__main__":
    screen = Console()
    run = learn(screen, int(sys.argv[1]) if len(sys.argv) > 1 else GAMES)
    show_shapes(screen, run)
    show_game(screen, run)
    screen.print(f"your turn: .venv/bin/katachi serve {run / 'player.toml'}", soft_wrap=True, highlight=False)
    if should_open_board():
        screen.print("or here and now, until Ctrl-C:")
        main(["serve", str(run / "player.toml"), "--data", str(run / "board")])

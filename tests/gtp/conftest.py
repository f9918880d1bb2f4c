"""Players that always do the same, and a folder of files that a controller may and may not touch."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from katachi.core.contracts import Analysis, Ban, Candidate, Decision, Evaluation, Floats, Ints, Limit, Player
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import PASS
from katachi.gtp.engine import GtpEngine

collect_ignore = ["other_programs"]  # run by the code of other programs, not by pytest


def first_moves(game: Game, count: int) -> list[int]:
    """The first legal points in reading order that are no own eyes."""
    legal = np.flatnonzero(game.legal_moves()[:-1]).tolist()
    return [move for move in legal if not game.board.is_own_eye(move, game.to_play)][:count]


class FirstPlayer:
    """Plays the first legal point; has values, priors and territory to show."""

    name = "first"

    def moves(self, game: Game) -> list[int]:
        return first_moves(game, 3)

    def decide(self, game: Game, limit: Limit) -> Decision:
        moves = self.moves(game)
        if not moves:
            return Decision(PASS)
        shares = [(0.75, 0.5), (0.5, 0.25), (0.25, 0.125)]
        candidates = [
            Candidate(
                move,
                black_wins=wins,
                prior=prior,
                visits=100 >> order,
                variation=(move, PASS),
                variation_visits=(100 >> order, 5),
            )
            for order, (move, (wins, prior)) in enumerate(zip(moves, shares, strict=False))
        ]
        ownership = np.linspace(-1, 1, game.size**2).astype(np.float32)
        return Decision(moves[0], analysis=Analysis(tuple(candidates), 0.75, 2.5, ownership))


class AnalyzingFirstPlayer(FirstPlayer):
    """Analyzes until it is stopped."""

    name = "analyzing"

    def analyze(self, game: Game, limit: Limit, stop: Event) -> Iterator[Analysis]:
        visits = 0
        while True:
            visits += 1
            yield Analysis((Candidate(first_moves(game, 1)[0], black_wins=0.5, visits=visits),))
            if stop.wait(0.001):
                return


class SelectivePlayer(FirstPlayer):
    """Plays the first legal point that is not banned, and does not mention the others."""

    name = "selective"
    bans: Collection[Ban] = ()

    def without(self, bans: Collection[Ban]) -> SelectivePlayer:
        player = SelectivePlayer()
        player.bans = bans
        return player

    def moves(self, game: Game) -> list[int]:
        banned = {ban.move for ban in self.bans if ban.color == game.to_play}
        return [move for move in first_moves(game, 9) if move not in banned][:3]

    def analyze(self, game: Game, limit: Limit, stop: Event) -> Iterator[Analysis]:
        analysis = self.decide(game, limit).analysis
        assert analysis is not None
        yield analysis


class SilentPlayer(FirstPlayer):
    """Plays like the first player and says nothing about it."""

    name = "silent"

    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision(super().decide(game, limit).move)


class ResigningPlayer:
    name = "resigning"

    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision(resign=True)


class PassingPlayer:
    name = "passing"

    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision(PASS)


class RaisingPlayer:
    name = "raising"

    def decide(self, game: Game, limit: Limit) -> Decision:
        game.play(PASS)  # spoils what it was handed before it fails
        raise RuntimeError("out of ideas")


class IllegalPlayer:
    """Always wants the upper left corner."""

    name = "illegal"

    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision(0)


class LimitPlayer:
    """Passes, and keeps the limits that it was given."""

    name = "limits"

    def __init__(self) -> None:
        self.limits: list[Limit] = []

    def decide(self, game: Game, limit: Limit) -> Decision:
        self.limits.append(limit)
        return Decision(PASS)


class CornerEvaluator:
    """Black wins more often the more stones he has; moves further down are likelier; the first point is White's."""

    def __init__(self) -> None:
        self.features = StoneFeatures()
        self.weights = np.array([0.5, -0.25, 0.125] + [1.0] * 358, dtype=np.float32)

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        wins = [0.5 + int(board.stones.sum()) / 100 for board in boards]
        shares = [board.legal_moves() * np.arange(1.0, board.size**2 + 2) for board in boards]
        policy = np.stack([share / share.sum() for share in shares]).astype(np.float32)
        return Evaluation(np.array(wins, dtype=np.float32), policy)

    def ownership(self, boards: Sequence[Board]) -> Floats:
        return np.stack([np.linspace(-1, 1, board.size**2) for board in boards]).astype(np.float32)


class StoneFeatures:
    """A feature for every point that is not empty."""

    name = "stones"
    size = 361

    def active(self, board: Board) -> tuple[Ints, Floats]:
        points = np.flatnonzero(board.stones)
        return points, board.stones[points].astype(np.float32)

    def describe(self, index: int) -> str:
        return f"a stone on point {index}"


class EvaluatingPlayer(FirstPlayer):
    """Plays like the first player, and has an evaluator and settings."""

    name = "evaluating"

    def __init__(self) -> None:
        self.evaluator = CornerEvaluator()
        self.parameters = {"search.width": 3, "search.deep": True}

    def set_parameter(self, name: str, text: str) -> None:
        if not text.isdigit():
            raise ValueError(f"{name} cannot be {text!r}")
        self.parameters[name] = int(text) if name == "search.width" else text == "1"


class ThinkingPlayer(FirstPlayer):
    """Finds a better move five times, or until it is hurried; then it is done."""

    name = "thinking"

    def think(self, game: Game, limit: Limit, stop: Event) -> Iterator[Decision]:
        for visits, move in enumerate(first_moves(game, 5), start=1):
            yield Decision(move, analysis=Analysis((Candidate(move, black_wins=0.5, visits=visits),)))
            if stop.wait(0.001):
                return


PLAYERS: dict[str, type[Player]] = {
    player.name: player
    for player in (
        FirstPlayer, AnalyzingFirstPlayer, SilentPlayer, ResigningPlayer, PassingPlayer, RaisingPlayer, IllegalPlayer,
        EvaluatingPlayer, ThinkingPlayer, SelectivePlayer,
    )
}  # fmt: skip

EngineFactory = Callable[..., GtpEngine]


@pytest.fixture
def sgf_folder(tmp_path: Path) -> Path:
    """A folder with records, and with everything that is no record or lies outside."""
    outside = tmp_path / "outside"
    folder = tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "secret.sgf").write_text("(;SZ[9];B[aa])")
    (folder / "sub").mkdir()
    (folder / "game.sgf").write_text("(;FF[4]SZ[9]KM[5.5]RU[Chinese];B[cc];W[gc];B[cg];W[gg])")
    (folder / "sub" / "setup.sgf").write_text("(;FF[4]SZ[5]KM[0.5]AB[bb][dd]AW[cc]PL[W];W[ab];B[])")
    (folder / "handicap.sgf").write_text("(;FF[4]SZ[9]HA[2]KM[0.5]AB[cg][gc];W[cc])")
    (folder / "large.sgf").write_text("(;FF[4]SZ[25];B[aa])")
    (folder / "text.sgf").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (folder / "empty.sgf").write_text("")
    (folder / "link-in.sgf").symlink_to(folder / "game.sgf")
    (folder / "link-out.sgf").symlink_to(outside / "secret.sgf")
    (folder / "loop.sgf").symlink_to(folder / "loop.sgf")
    (folder / "zero.sgf").symlink_to("/dev/zero")
    (folder / "dir-out").symlink_to(outside)
    os.mkfifo(folder / "pipe.sgf")
    return folder


@pytest.fixture
def players() -> dict[str, type[Player]]:
    return PLAYERS


@pytest.fixture
def limit_player() -> LimitPlayer:
    return LimitPlayer()


@pytest.fixture
def make_engine(sgf_folder: Path) -> EngineFactory:
    """Engines of these players that keep to the folder above."""

    def make(player: str = "first", size: int = 9) -> GtpEngine:
        return GtpEngine(PLAYERS[player](), size=size, directory=sgf_folder)

    return make

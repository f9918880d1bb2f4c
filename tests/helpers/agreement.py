"""Plays random games on katachi's Game and on its slow twin at once, and stops at the first difference."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from helpers import naive
from katachi.go.board import Illegality
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import KoRule, Rules

_MOVES_IN_TURN = 700  # on one size before the next, so that all sizes see as many
ALL_RULES = [Rules(ko=ko, suicide=suicide) for ko in KoRule for suicide in (False, True)]


def contents(game: Game) -> dict[str, bytes]:
    """Every array of a board's record, byte for byte (the padding between them is nobody's)."""
    record = game.board.record
    return {name: record[name].tobytes() for name in record.dtype.names or ()}


@dataclass
class Witness:
    """What was seen over many games: how often each illegality, and that on each size hashes tell positions apart."""

    reasons: Counter[str] = field(default_factory=Counter)

    by_position: dict[bytes, int] = field(default_factory=dict)  # the number of points tells the size
    by_hash: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def check_hash(self, game: Game) -> None:
        position = game.board.stones.tobytes()
        assert self.by_position.setdefault(position, game.board.hash) == game.board.hash
        assert self.by_hash.setdefault((game.size, game.board.hash), position) == position


@dataclass
class Pair:
    """A game, its twin, and the random choices made for both."""

    game: Game
    twin: naive.NaiveGame
    rng: random.Random
    witness: Witness

    def step(self) -> None:
        """Play a random legal move, mostly by the player to move; now and then pass or set up stones."""
        draw = self.rng.random()
        if draw < 0.01:
            self.set_up()
            return
        color = -self.twin.to_play if draw < 0.03 else self.twin.to_play
        legal = self.check_legality(color)
        move = PASS if draw > 0.98 or not legal else self.rng.choice(legal)
        self.game.play(move, color)
        self.twin.play(move, color)

    def set_up(self) -> None:
        """Put random stones on, and take random ones off; a chain without a liberty must be refused."""
        points = self.rng.sample(range(self.game.size**2), 3)
        black, white, empty = points[:1], points[1:2], points[2:]
        to_play = self.rng.choice((BLACK, WHITE))
        self.twin.setup(black, white, empty, to_play)
        before = contents(self.game)
        try:
            self.game.setup(black, white, empty, to_play)
        except ValueError:
            assert not naive.is_legal_position(self.twin.stones, self.twin.size)
            assert contents(self.game) == before
            self.twin.undo()

    def check_legality(self, color: int) -> list[int]:
        """Compare every point's legality and the reasons; returns the legal points."""
        illegal = self.twin.illegal_points(color)
        self.witness.reasons.update(illegal.values())
        legal = [point for point in range(self.game.size**2) if point not in illegal]
        assert np.flatnonzero(self.game.legal_moves(color)[:-1]).tolist() == legal
        for point, reason in illegal.items():
            if reason != "OCCUPIED" or self.rng.random() < 0.05:
                assert self.game.why_illegal(point, color) is Illegality[reason]
        for point in self.rng.sample(legal, min(3, len(legal))):
            assert self.game.why_illegal(point, color) is None
        return legal

    def check_state(self) -> None:
        """Compare stones, turn, ko, prisoners, chains, liberties, eyes and the hash."""
        board, twin = self.game.board, self.twin
        assert board.stones.tolist() == twin.stones
        assert (board.to_play, board.ko_point) == (twin.to_play, twin.ko_point)
        assert {color: board.captured(color) for color in (BLACK, WHITE)} == twin.captured
        self.witness.check_hash(self.game)
        table = twin.chains
        chains = board.chains()
        assert sum(map(len, chains)) == len(table)
        for chain in chains:
            stone = self.rng.choice(chain)
            stones, liberties = table[stone]
            assert chain == sorted(stones)
            assert board.liberties(stone) == sorted(liberties)
            assert board.pseudo_liberties(stone) == naive.pseudo_liberties_of(twin.stones, twin.size, stones)
        for point in self.rng.sample(range(twin.size**2), 4):
            if point in table:
                assert board.chain(point) == sorted(table[point][0])
                continue
            for color in (BLACK, WHITE):
                assert board.is_own_eye(point, color) == naive.is_own_eye(twin.stones, twin.size, point, color)

    def check_undo(self, steps: int) -> None:
        """Play some steps and take them back: every array of the record must be what it was."""
        before = contents(self.game)
        depth = len(self.twin.earlier)
        for _ in range(steps):
            self.step()
        while len(self.twin.earlier) > depth:
            self.game.undo()
            self.twin.undo()
        assert contents(self.game) == before


def new_pair(size: int, rules: Rules, seed: int, witness: Witness) -> Pair:
    twin = naive.NaiveGame(size, rules.ko.value, rules.suicide)
    return Pair(Game(size, rules), twin, random.Random(seed), witness)


def play_random_games(
    moves: int, seed: int, sizes: Sequence[int] = range(2, 20), witness: Witness | None = None
) -> Iterator[int]:
    """Play games over all rules, about as many moves on every size; yields the moves that agreed after each game."""
    rng = random.Random(seed)
    witness = witness or Witness()
    done = 0
    while done < moves:
        size = rng.choice(sizes)
        left = min(_MOVES_IN_TURN, moves - done)
        while left > 0:
            length = min(left, rng.randint(1, 3 * size**2))
            _play_random_game(new_pair(size, rng.choice(ALL_RULES), rng.getrandbits(32), witness), length)
            left -= length
            done += length
            yield done


def _play_random_game(pair: Pair, moves: int) -> None:
    for i in range(moves):
        if i % 50 == 49:
            pair.check_undo(pair.rng.randint(1, 8))
        pair.step()
        pair.check_state()

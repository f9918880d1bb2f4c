"""A game explained: every position judged, every move compared with the best, the biggest mistakes first.

>>> from katachi.players.specs import load_player
>>> from katachi.sgf import parse_sgf
>>> record = parse_sgf("(;SZ[5];B[cc];W[aa];B[bb])")[0]
>>> analysis = analyze_game(record, Judges(load_player("level-3", seed=1)))
>>> [position.move.move for position in analysis.positions[1:]]
['C3', 'A5', 'B4']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version

from katachi.analysis.annotating import annotate, strip
from katachi.analysis.explaining import judge_turn, link_turns
from katachi.analysis.judges import Judges
from katachi.analysis.mistakes import LEAST_MISTAKE, find_mistakes
from katachi.analysis.records import GameRecord, MoveRecord, PositionRecord, format_line
from katachi.analysis.report import STYLE, draw_game
from katachi.analysis.turns import count_turns, turns_of
from katachi.go.game import Game
from katachi.sgf import SgfGame, format_sgf, game_to_tree


@dataclass(frozen=True, slots=True)
class GameAnalysis:
    """A record, and the records of its positions."""

    record: SgfGame
    game: GameRecord
    positions: tuple[PositionRecord, ...]

    def mistakes(self, least: float = LEAST_MISTAKE) -> list[MoveRecord]:
        """The moves that lost at least so much of the chance to win, the biggest first."""
        return find_mistakes(self.positions, least)

    def annotated(self) -> SgfGame:
        """The record with the analysis written into it."""
        return annotate(self.record, self.game, self.positions)

    def to_sgf(self) -> str:
        """The same as text."""
        return format_sgf(self.annotated())

    def to_json_lines(self) -> str:
        """The game and its positions, a line each."""
        return "".join([format_line(self.game), *map(format_line, self.positions)])

    def to_html(self) -> str:
        """The game as a section of a page."""
        return draw_game(self.record, self.game, self.positions)

    def _repr_html_(self) -> str:
        return f"<style>{STYLE}</style>{self.to_html()}"


def analyze_game(game: Game | SgfGame, judges: Judges) -> GameAnalysis:
    """Judge every position of a game; of a record it is the main line.

    Raises SgfError if a record cannot be played, and WrongBoardSize if a judge cannot judge boards of its size.
    """
    record = strip(game) if isinstance(game, SgfGame) else SgfGame(game_to_tree(game))
    positions = link_all(judge_turn(judges, turn) for turn in turns_of(record))
    return GameAnalysis(record, describe_game(record, judges), tuple(positions))


def link_all(positions: Iterable[PositionRecord]) -> Iterator[PositionRecord]:
    """Positions of one game in their order, each compared with the one before."""
    previous: PositionRecord | None = None
    for position in positions:
        previous = position if previous is None else link_turns(previous, position)
        yield previous


def describe_game(record: SgfGame, judges: Judges, name: str = "", source: str = "", seed: int = 0) -> GameRecord:
    """The line that tells of a game and its judges."""
    limit = judges.limit_in_force
    return GameRecord(
        game=name,
        source=source,
        sha256=digest_game(record),
        size=record.size,
        komi=record.rules.komi,
        handicap=record.handicap,
        rules=record.rules.name,
        black=record.black,
        white=record.white,
        black_rank=record.black_rank,
        white_rank=record.white_rank,
        result=None if record.result is None else str(record.result),
        positions=count_turns(record),
        player=None if judges.player is None else judges.player.name,
        evaluators=tuple(judges.all_evaluators),
        simulations=limit.simulations,
        seconds=limit.seconds,
        seed=seed,
        program=f"katachi {version('katachi')}",
    )


def digest_game(record: SgfGame) -> str:
    """A text that changes with anything in a record."""
    return sha256(format_sgf(record).encode(errors="surrogatepass")).hexdigest()

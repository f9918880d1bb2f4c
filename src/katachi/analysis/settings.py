"""Judges by name: which player and which models judge, for how long, and from which seed; the same every time.

Every position has judges of its own, whose randomness depends on the game and the turn alone, and a search runs on
one thread. So it does not matter in which process, in which order or after which interruption a position is judged;
only limits of time give up on that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from katachi.analysis.judges import Judges
from katachi.core.contracts import ClosingPlayer, Evaluator, Limit, Player, TunablePlayer
from katachi.core.evaluators import WrongBoardSize
from katachi.core.models import find_model, load_model, shipped_models
from katachi.go.board import Board
from katachi.players.specs import load_player

DEFAULT_PLAYER: Final = "level-8"
_THREADS: Final = "search.threads"


class JudgeSettings(BaseModel):
    """Names as ``load_player`` and ``find_model`` take them; without any, what ships for the size of a board judges."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    player: str | None = None
    models: tuple[str, ...] = ()
    simulations: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    seed: int = 0

    @property
    def player_name(self) -> str | None:
        """The player that looks ahead, if one does."""
        return DEFAULT_PLAYER if self.player is None and not self.models else self.player

    @contextmanager
    def judges(self, size: int, game: str, turn: int) -> Iterator[Judges]:
        """The judges of one position, to be let go afterwards; ``game`` is the digest of its record.

        Raises SpecError or ModelError if one of them cannot be loaded.
        """
        name = self.player_name
        player = None if name is None else self._load_player(name, game, turn)
        is_default = self.player is None and not self.models
        models = fitting_models(default_models(size) if is_default else self.models, size)
        try:
            yield Judges(player, Limit(simulations=self.simulations, seconds=self.seconds), models)
        finally:
            if isinstance(player, ClosingPlayer):
                player.close()

    def _load_player(self, name: str, game: str, turn: int) -> Player:
        digest = sha256(f"{self.seed} {game} {turn}".encode()).digest()
        player = load_player(name, int.from_bytes(digest[:8], "big"))
        if isinstance(player, TunablePlayer) and _THREADS in player.parameters:
            player.set_parameter(_THREADS, "1")
        return player


def default_models(size: int) -> tuple[str, ...]:
    """The model of local shapes that ships for boards of a size, if there is one."""
    name = f"shapes-{size}"
    return (name,) if any(path.name == name for path in shipped_models()) else ()


def fitting_models(names: tuple[str, ...], size: int) -> dict[str, Evaluator]:
    """Models by the last part of their names, without those that judge boards of other sizes."""
    models = {Path(name).name: _load_fitting(name, size) for name in names}
    return {name: model for name, model in models.items() if model is not None}


@lru_cache(maxsize=8)
def _load_fitting(name: str, size: int) -> Evaluator | None:
    """A model, None if it judges boards of another size."""
    model = load_model(find_model(name))[0]
    try:
        model.evaluate([Board(size)])
    except WrongBoardSize:
        return None
    return model

"""Who can be played against: the players that ship, and those that were named when the server was started.

A visitor chooses by name from this list alone: a spec may run a program, so none is ever taken from a browser.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from katachi.core.cards import ModelError
from katachi.core.models import find_model, open_model
from katachi.players.search_spec import SearchSpec
from katachi.players.specs import PlayerSpec, RatingTable, load_player, parse_spec, read_spec, shipped_players


class Offer(NamedTuple):
    """A player that can be chosen: its name here, what ``load_player`` knows it by, and the only size that it plays."""

    name: str
    spec: str
    description: str
    rating: RatingTable | None = None
    size: int | None = None

    def plays(self, size: int) -> bool:
        return self.size is None or self.size == size


def list_offers(named: str | None = None) -> dict[str, Offer]:
    """Everybody, by name, the named player first; raises SpecError if that is none."""
    offers = [] if named is None else [_offer_named(named)]
    offers += [
        Offer(player.name, player.name, player.description, player.rating, _size_of(player.name))
        for player in shipped_players()
    ]
    chosen: dict[str, Offer] = {}
    for offer in offers:
        chosen.setdefault(offer.name, offer)
    return chosen


def _offer_named(text: str) -> Offer:
    if text.startswith("gtp:"):
        return Offer(load_player(text).name, text, text.removeprefix("gtp:"))
    spec = parse_spec(*read_spec(text))
    where = str(Path(text).resolve()) if Path(text).is_file() else text
    return Offer(spec.name or Path(text).stem, where, spec.description, spec.rating, _model_size(spec))


def _size_of(name: str) -> int | None:
    return _model_size(parse_spec(*read_spec(name)))


def _model_size(spec: PlayerSpec) -> int | None:
    """The only board size of the model that a player uses, None if it takes every size or says no more."""
    if not isinstance(spec, SearchSpec) or spec.evaluator is None:
        return None
    try:
        return open_model(find_model(spec.evaluator.model)).card.board_size
    except ModelError:
        return None

"""Who is asked about positions: one choice for the layers and the review of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from katachi.web import texts
from katachi.web.offers import Offer
from katachi.web.sessions import Session
from katachi.web.widgets import select

_USUAL: Final = "level-6"


class JudgeChoice:
    """A field with everybody who plays on boards of this size."""

    def __init__(self, session: Session, on_change: Callable[[], None]) -> None:
        self._offers = session.house.offers
        size = session.table.opened.size
        names = [offer.name for offer in self._offers.values() if offer.plays(size)]
        field = select(names, _USUAL if _USUAL in names else names[0], texts.JUDGE)
        field.on_value_change(on_change)
        self._field = field

    @property
    def offer(self) -> Offer:
        return self._offers[str(self._field.value)]

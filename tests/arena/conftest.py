"""Records and settings made up for the tests of the arena."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from katachi.arena.records import CheckRecord, GameRecord, SideRecord
from katachi.arena.settings import TournamentSettings, parse_settings

MakeRecord = Callable[..., GameRecord]
MakeSettings = Callable[..., TournamentSettings]


def _make_record(
    black: str, white: str, result: str, *, pairing: int = 0, number: int = 0, overruns: int = 0, **fields: object
) -> GameRecord:
    sides = {
        name: SideRecord(name=name, seed=1, moves=10, seconds=1.0, longest=0.5, overruns=overruns)
        for name in (black, white)
    }
    values: dict[str, object] = {
        "id": f"{pairing + 1:02d}-{number + 1:04d}",
        "opening": "empty board",
        "moves": 20,
        "ending": "passes",
        "fingerprint": f"{pairing} {number}",
    }
    return GameRecord.model_validate(
        values
        | {"pairing": pairing, "number": number, "black": sides[black], "white": sides[white], "result": result}
        | fields
    )


@pytest.fixture
def make_record() -> MakeRecord:
    return _make_record


@pytest.fixture
def disagreement() -> CheckRecord:
    return CheckRecord(referee="gnugo", result="W+3.5", agrees=False, note="gnugo says W+3.5")


@pytest.fixture
def make_settings() -> MakeSettings:
    def make(*players: str, **values: object) -> TournamentSettings:
        return parse_settings({"players": list(players or ("random", "alp")), "size": 5} | values)

    return make

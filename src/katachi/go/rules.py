"""The rules of a game: ko, suicide, scoring, handicap compensation and komi.

Names and JSON keys are KataGo's, so that files and GTP dialogues interoperate:

>>> parse_rules("chinese").ko
<KoRule.SIMPLE: 'SIMPLE'>
>>> parse_rules('{"ko": "SITUATIONAL", "suicide": true}').name
'custom'
"""

from __future__ import annotations

import difflib
import json
import math
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any, Final

DEFAULT_KOMI: Final = 7.5
MAX_KOMI: Final = 1000.0


class RulesError(ValueError):
    """A rule set that does not exist or that katachi does not play."""


def check_komi(komi: float) -> float:
    """Return a komi that can be played with, else raise RulesError (nan, infinite, absurd)."""
    if not (math.isfinite(komi) and abs(komi) <= MAX_KOMI):
        raise RulesError(f"komi {komi} is not a number between -{MAX_KOMI:g} and {MAX_KOMI:g}")
    return komi


class KoRule(Enum):
    SIMPLE = "SIMPLE"  # a single stone may not be retaken at once
    POSITIONAL = "POSITIONAL"  # no board position may come back
    SITUATIONAL = "SITUATIONAL"  # no board position may come back with the same player to move


class Scoring(Enum):
    AREA = "AREA"  # stones and surrounded points
    TERRITORY = "TERRITORY"  # surrounded points and prisoners


class Tax(Enum):
    NONE = "NONE"
    SEKI = "SEKI"  # surrounded points of chains in seki do not count


class HandicapBonus(Enum):
    """What White gets for n handicap stones under area scoring."""

    NONE = "0"
    STONES_LESS_ONE = "N-1"
    STONES = "N"


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that must be agreed before the first move. ``suicide`` means of two stones or more."""

    ko: KoRule = KoRule.POSITIONAL
    suicide: bool = False
    scoring: Scoring = Scoring.AREA
    tax: Tax = Tax.NONE
    handicap_bonus: HandicapBonus = HandicapBonus.NONE
    friendly_pass_ok: bool = False  # dead stones are removed by agreement, not by playing it out
    komi: float = DEFAULT_KOMI

    def __post_init__(self) -> None:
        check_komi(self.komi)

    def with_komi(self, komi: float) -> Rules:
        """The same rules with another komi."""
        return replace(self, komi=komi)

    @property
    def name(self) -> str:
        """The name of the set these rules are, whatever their komi: ``custom`` if it has none."""
        same = (name for name, rules in NAMED_RULES.items() if rules.with_komi(self.komi) == self)
        return next(same, "custom")

    def handicap_compensation(self, stones: int) -> int:
        """Points that White receives for a handicap of that many stones."""
        if stones < 2 or self.handicap_bonus is HandicapBonus.NONE:
            return 0
        return stones if self.handicap_bonus is HandicapBonus.STONES else stones - 1

    def to_json(self) -> dict[str, Any]:
        """These rules under KataGo's keys; komi is not among them."""
        values = asdict(self)
        return {key: _plain(values[field]) for key, field in _JSON_FIELDS.items()} | {"hasButton": False}


_JSON_FIELDS: Final = {
    "ko": "ko",
    "scoring": "scoring",
    "tax": "tax",
    "suicide": "suicide",
    "whiteHandicapBonus": "handicap_bonus",
    "friendlyPassOk": "friendly_pass_ok",
}
_FIELD_TYPES: Final[dict[str, type[Enum]]] = {
    "ko": KoRule,
    "scoring": Scoring,
    "tax": Tax,
    "handicap_bonus": HandicapBonus,
}

_CHINESE: Final = Rules(KoRule.SIMPLE, handicap_bonus=HandicapBonus.STONES, friendly_pass_ok=True)
_CHINESE_SUPERKO: Final = replace(_CHINESE, ko=KoRule.POSITIONAL)
_JAPANESE: Final = Rules(KoRule.SIMPLE, scoring=Scoring.TERRITORY, tax=Tax.SEKI, friendly_pass_ok=True, komi=6.5)
_AGA: Final = Rules(KoRule.SITUATIONAL, handicap_bonus=HandicapBonus.STONES_LESS_ONE, friendly_pass_ok=True)

NAMED_RULES: Final[dict[str, Rules]] = {
    "katachi": Rules(),
    "tromp-taylor": Rules(suicide=True),
    "chinese": _CHINESE,
    "chinese-ogs": _CHINESE_SUPERKO,
    "chinese-kgs": _CHINESE_SUPERKO,
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "aga": _AGA,
    "bga": _AGA,
    "new-zealand": Rules(KoRule.SITUATIONAL, suicide=True, friendly_pass_ok=True),
}
_REFUSED: Final = {
    "aga-button": "katachi does not play button Go; aga is the nearest rule set",
    "stone-scoring": "katachi has no group tax; chinese is the nearest rule set",
}


def parse_rules(text: str, komi: float | None = None) -> Rules:
    """Rules by name, or as a JSON object with KataGo's keys; ``komi`` overrides that of the set."""
    rules = _rules_from_json(text) if text.lstrip().startswith("{") else _rules_by_name(text)
    return rules if komi is None else rules.with_komi(komi)


def _rules_by_name(text: str) -> Rules:
    name = text.strip().lower().replace("_", "-").replace(" ", "-")
    if name in _REFUSED:
        raise RulesError(f"{name}: {_REFUSED[name]}")
    if name not in NAMED_RULES:
        near = difflib.get_close_matches(name, NAMED_RULES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(NAMED_RULES)}"
        raise RulesError(f"no rules are called {text!r}{hint}")
    return NAMED_RULES[name]


def _rules_from_json(text: str) -> Rules:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(";")[0]  # without the way in which Python would read 5,000 digits
        raise RulesError(f"these rules are not JSON: {reason}") from None
    if values.pop("hasButton", False):
        raise RulesError(_REFUSED["aga-button"])
    return replace(Rules(), **dict(map(_parse_field, values.items())))


def _parse_field(item: tuple[str, Any]) -> tuple[str, Any]:
    key, value = item
    if key not in _JSON_FIELDS:
        raise RulesError(f"{key!r} is not a rule; known are {', '.join(_JSON_FIELDS)}")
    field = _JSON_FIELDS[key]
    if isinstance(value, list | dict):
        raise RulesError(f"{key} cannot be a list or an object")
    if field in _FIELD_TYPES:
        try:
            return field, _FIELD_TYPES[field](value)
        except ValueError:
            known = ", ".join(str(member.value) for member in _FIELD_TYPES[field])
            raise RulesError(f"{key} cannot be {value!r}; it is one of {known}") from None
    if not isinstance(value, bool):
        raise RulesError(f"{key} must be true or false")
    return field, value


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value

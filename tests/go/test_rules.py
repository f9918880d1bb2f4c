from __future__ import annotations

import json

import pytest

from katachi.go.rules import NAMED_RULES, HandicapBonus, KoRule, Rules, RulesError, Scoring, Tax, parse_rules

# What KataGo's documentation says of its named rule sets.
KATAGO = {
    "tromp-taylor": ("POSITIONAL", "AREA", "NONE", True, "0", False),
    "chinese": ("SIMPLE", "AREA", "NONE", False, "N", True),
    "chinese-ogs": ("POSITIONAL", "AREA", "NONE", False, "N", True),
    "chinese-kgs": ("POSITIONAL", "AREA", "NONE", False, "N", True),
    "japanese": ("SIMPLE", "TERRITORY", "SEKI", False, "0", True),
    "korean": ("SIMPLE", "TERRITORY", "SEKI", False, "0", True),
    "aga": ("SITUATIONAL", "AREA", "NONE", False, "N-1", True),
    "bga": ("SITUATIONAL", "AREA", "NONE", False, "N-1", True),
    "new-zealand": ("SITUATIONAL", "AREA", "NONE", True, "0", True),
}
KEYS = ("ko", "scoring", "tax", "suicide", "whiteHandicapBonus", "friendlyPassOk")


@pytest.mark.parametrize("name", KATAGO)
def test_named_rules_are_katagos(name: str) -> None:
    assert parse_rules(name).to_json() == dict(zip(KEYS, KATAGO[name], strict=True)) | {"hasButton": False}


@pytest.mark.parametrize("name", NAMED_RULES)
def test_rules_survive_json(name: str) -> None:
    rules = NAMED_RULES[name]
    assert parse_rules(json.dumps(rules.to_json()), komi=rules.komi) == rules


def test_the_default_is_area_positional_superko_no_suicide() -> None:
    rules = Rules()
    assert (rules.ko, rules.scoring, rules.suicide, rules.komi) == (KoRule.POSITIONAL, Scoring.AREA, False, 7.5)
    assert rules.name == "katachi"


def test_a_set_keeps_its_name_under_another_komi() -> None:
    assert parse_rules("Tromp_Taylor", komi=0.5).name == "tromp-taylor"
    assert Rules(tax=Tax.SEKI).name == "custom"


@pytest.mark.parametrize(
    ("bonus", "stones", "points"),
    [(HandicapBonus.STONES, 4, 4), (HandicapBonus.STONES_LESS_ONE, 4, 3), (HandicapBonus.NONE, 4, 0)],
)
def test_handicap_compensation(bonus: HandicapBonus, stones: int, points: int) -> None:
    rules = Rules(handicap_bonus=bonus)
    assert rules.handicap_compensation(stones) == points
    assert rules.handicap_compensation(0) == rules.handicap_compensation(1) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("chineze", "did you mean 'chinese'"),
        ("martian", "known are"),
        ("aga-button", "button"),
        ("stone-scoring", "group tax"),
        ('{"ko": "TRIPLE"}', "one of SIMPLE, POSITIONAL, SITUATIONAL"),
        ('{"kо": "SIMPLE"}', "is not a rule"),
        ('{"suicide": 1}', "true or false"),
        ('{"ko": ["SIMPLE"]}', "cannot be"),
        ('{"hasButton": true}', "button"),
        ('{"ko"', "not JSON"),
    ],
)
def test_bad_rules_get_one_clear_sentence(text: str, says: str) -> None:
    with pytest.raises(RulesError, match=says):
        parse_rules(text)


@pytest.mark.parametrize("komi", [float("nan"), float("inf"), -1e9])
def test_komi_must_be_a_number_to_play_with(komi: float) -> None:
    with pytest.raises(RulesError, match="komi"):
        Rules(komi=komi)

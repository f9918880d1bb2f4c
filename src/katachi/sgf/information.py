"""What the root of a record says about the game: size, komi, handicap, rules, ranks and result.

Each reader answers with what can be made of the property, or with "not said"; what was odd goes to ``report``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from katachi.go.points import MAX_SIZE, GameResult
from katachi.go.rules import DEFAULT_KOMI, KoRule, Rules, RulesError, parse_rules
from katachi.sgf.errors import SgfError
from katachi.sgf.repairs import RepairKind, Report, ignore, shorten
from katachi.sgf.tree import Node

DEFAULT_SIZE: Final = 19

_SIZE: Final = re.compile(r"(\d{1,4})(?:\s*[:xX×]\s*(\d{1,4}))?")
_KOMI: Final = re.compile(r"[-+]?\d{1,4}(?:[.,]\d{1,6}|½)?")
_RANK: Final = re.compile(r"(p)?(\d{1,2})\s*-?(k|d|p|级|級|급|段|단)", re.IGNORECASE)  # P5段 is a professional
_RANK_LETTERS: Final = {"级": "k", "級": "k", "급": "k", "段": "d", "단": "d"}

# The Fox server writes komi in hundredths of a point, or of a pair of points.
_KOMI_IN_HUNDREDTHS: Final = {
    "275": 5.5, "325": 6.5, "350": 7.0, "375": 7.5, "550": 5.5, "650": 6.5, "700": 7.0, "750": 7.5,
}  # fmt: skip
_RULES_ALIASES: Final = {
    "jp": "japanese",
    "cn": "chinese",
    "kr": "korean",
    "nz": "new-zealand",
    "tt": "tromp-taylor",
    "日本": "japanese",
    "中国": "chinese",
}


def check_information(root: Node, report: Report) -> None:
    """Report everything that is odd about a root; a size that no board has is left to ``read_size``."""
    try:
        size = read_size(root, report)
    except SgfError:
        size = MAX_SIZE
    read_komi(root, report)
    read_handicap(root, report, most=size * size)


def check_is_go(root: Node) -> None:
    """Raise SgfError for the record of another game."""
    game = root.simple_text("GM")
    if game.isdigit() and game not in ("0", "1"):
        raise SgfError(f"GM[{game[:10]}] is not Go")


def read_size(root: Node, report: Report = ignore) -> int:
    """The board size; raises SgfError for boards that are not square or too large."""
    raw = root.get("SZ")
    if raw is None:
        return DEFAULT_SIZE
    text = root.simple_text("SZ")
    found = _SIZE.match(text)
    if found is None:
        report(RepairKind.INFORMATION, "root", f"size {shorten(text)} taken for {DEFAULT_SIZE}")
        return DEFAULT_SIZE
    width, height = int(found[1]), int(found[2] or found[1])
    if width != height:
        raise SgfError(f"the board is {width}×{height}: katachi plays on square boards only")
    if not 1 <= width <= MAX_SIZE:
        raise SgfError(f"the board is {width}×{width}: katachi plays on boards up to {MAX_SIZE}×{MAX_SIZE}")
    if raw != str(width):
        report(RepairKind.INFORMATION, "root", f"size {shorten(text)} taken for {width}")
    return width


def read_komi(root: Node, report: Report = ignore) -> float | None:
    """The komi, None if the record does not tell."""
    text = root.simple_text("KM")
    if not text:
        return None
    if text in _KOMI_IN_HUNDREDTHS:
        komi = _KOMI_IN_HUNDREDTHS[text]
        report(RepairKind.INFORMATION, "root", f"komi {text} taken for {komi}, in hundredths")
        return komi
    found = _KOMI.match(text)
    komi = float(found[0].replace(",", ".").replace("½", ".5")) if found else 0.0
    if found is None or abs(komi) > MAX_SIZE**2:
        report(RepairKind.INFORMATION, "root", f"komi {shorten(text)} ignored")
        return None
    if "," in found[0] or "½" in found[0] or found[0] != text:
        report(RepairKind.INFORMATION, "root", f"komi {shorten(text)} taken for {komi:g}")
    return komi


def read_handicap(root: Node, report: Report = ignore, most: int = MAX_SIZE**2) -> int:
    """The number of handicap stones that the record tells, 0 if none; ``AB`` may tell otherwise."""
    text = root.simple_text("HA")
    if not text:
        return 0
    handicap = int(text) if re.fullmatch(r"\d{1,3}", text) else -1
    if not 0 <= handicap < most:
        report(RepairKind.INFORMATION, "root", f"handicap {shorten(text)} ignored")
        return 0
    stones = len(root.properties.get("AB", ()))
    if handicap >= 2 and stones and stones != handicap and not any(":" in value for value in root.properties["AB"]):
        report(RepairKind.HANDICAP, "root", f"handicap {handicap}, but {stones} stones are set up; the stones count")
    return handicap


def read_rules(root: Node, report: Report = ignore) -> Rules:
    """The rules with the komi; what the record does not tell is as usual, but with simple ko, which forbids least."""
    komi = read_komi(root)
    text = root.simple_text("RU")
    rules = replace(Rules(), ko=KoRule.SIMPLE)
    if text:
        try:
            rules = parse_rules(_RULES_ALIASES.get(text.lower(), text))
        except RulesError:
            report(RepairKind.INFORMATION, "root", f"rules {shorten(text)} unknown, taken for area scoring, simple ko")
    return rules.with_komi(DEFAULT_KOMI if komi is None and not text else rules.komi if komi is None else komi)


def read_result(root: Node) -> GameResult | None:
    """The result, None if the record tells none."""
    try:
        return GameResult.parse(root.simple_text("RE"))
    except ValueError:
        return None


def read_rank(root: Node, name: str) -> str | None:
    """The rank in ``BR`` or ``WR`` as ``3k``, ``6d`` or ``9p``, None if it is not told or not understood."""
    found = _RANK.match(root.simple_text(name))
    if not found:
        return None
    letter = (found[1] or found[3]).lower()
    return f"{int(found[2])}{_RANK_LETTERS.get(letter, letter)}"

from __future__ import annotations

import pytest

from katachi.go.points import BLACK, EMPTY, WHITE, GameResult, Reason


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("B+3.5", GameResult(BLACK, 3.5, Reason.SCORE)),
        ("W+12", GameResult(WHITE, 12.0, Reason.SCORE)),
        ("w+0,5", GameResult(WHITE, 0.5, Reason.SCORE)),
        ("B+R", GameResult(BLACK, None, Reason.RESIGNATION)),
        ("Black+Resign", GameResult(BLACK, None, Reason.RESIGNATION)),
        ("W+Time", GameResult(WHITE, None, Reason.TIME)),
        ("B+F", GameResult(BLACK, None, Reason.FORFEIT)),
        ("W+", GameResult(WHITE, None, Reason.UNKNOWN)),
        ("0", GameResult(EMPTY, 0.0, Reason.SCORE)),
        ("Draw", GameResult(EMPTY, 0.0, Reason.SCORE)),
    ],
)
def test_results_parse_and_format_back(text: str, result: GameResult) -> None:
    assert GameResult.parse(text) == result
    assert GameResult.parse(str(result)) == result


@pytest.mark.parametrize("text", ["", "?", "Void", "B", "B+x", "B+nan", "B+1e9", "+3", "B+-3"])
def test_what_tells_no_result(text: str) -> None:
    with pytest.raises(ValueError, match="tells no result"):
        GameResult.parse(text)


@pytest.mark.parametrize(("lead", "text"), [(0.5, "B+0.5"), (-7.0, "W+7"), (0.0, "0")])
def test_a_count_names_its_winner(lead: float, text: str) -> None:
    assert str(GameResult.by_score(lead)) == text

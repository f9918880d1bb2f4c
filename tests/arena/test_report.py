from __future__ import annotations

import io
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from rich.console import Console

from katachi.arena.ratings import Rating, Score, Standings, count_standings
from katachi.arena.records import CheckRecord, GameRecord
from katachi.arena.report import (
    TournamentProgress,
    draw_ratings,
    format_html,
    format_interval,
    format_markdown,
    format_score,
    print_report,
    report_tables,
)
from katachi.arena.settings import TournamentSettings, parse_settings

MakeRecord = Callable[..., GameRecord]
NASTY = "<script>alert(1)</script>|[red]`x`"


@pytest.fixture
def settings() -> TournamentSettings:
    return parse_settings({"players": {"alp": "alp", NASTY: "random"}, "size": 5, "games": 4})


@pytest.fixture
def standings(settings: TournamentSettings, make_record: MakeRecord, disagreement: CheckRecord) -> Standings:
    games = [
        make_record("alp", NASTY, "B+3.5", number=0, fingerprint="x"),
        make_record(NASTY, "alp", "B+F", number=1, ending="failure", detail="alp: died"),
        make_record("alp", NASTY, "B+3.5", number=2, fingerprint="x"),
        make_record(NASTY, "alp", "0", number=3, check=disagreement),
    ]
    return count_standings(settings, games, programs=("katachi 1.2.3",))


def as_text(standings: Standings) -> str:
    console = Console(file=io.StringIO(), width=200, color_system=None)
    print_report(standings, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_tables_say_what_happened(standings: Standings) -> None:
    tables = {table.title: table for table in report_tables(standings)}
    assert list(tables) == [
        "Ratings",
        "Score of the row against the column",
        "Pairs, as the first player sees them",
        "Incidents",
        "Disagreements of the referees",
    ]
    pair = tables["Pairs, as the first player sees them"]
    assert dict(zip(pair.header, pair.rows[0], strict=True)) == {
        "pair": f"alp – {NASTY}",
        "wins": "2",
        "draws": "1",
        "losses": "1",
        "win rate": "62.5 % (22–91)",
        "with Black": "100.0 %",
        "with White": "25.0 %",
        "duplicates": "1",
        "moves": "20",
    }
    assert tables["Incidents"].rows == (("alp", "0", "1", "0", "0"),)
    assert tables["Score of the row against the column"].rows[0] == ("alp", "", "62.5 %")


def test_tables_without_content_are_left_out(settings: TournamentSettings, make_record: MakeRecord) -> None:
    quiet = count_standings(settings, [make_record("alp", NASTY, "B+3.5")])
    assert len(report_tables(quiet)) == 3


def test_text_shows_names_as_they_are(standings: Standings) -> None:
    text = as_text(standings)
    assert NASTY in text
    assert "played by: katachi 1.2.3" in text
    assert "games: 4 of 4, 4 a pair" in text


class PageReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_names_cannot_break_out_of_it(standings: Standings) -> None:
    page = format_html(standings, f"Cup {NASTY}")
    reader = PageReader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert "script" not in reader.tags
    assert reader.text.count(NASTY) >= 4
    assert reader.tags.count("circle") == 2
    assert not re.search(r"(src|href)=|https?:|@import|url\(", page)


def test_ratings_are_drawn_in_order_inside_the_picture() -> None:
    ratings = (Rating("best", 250.0, 200.0, 330.0), Rating("worst", -400.0, -500.0, -300.0))
    picture = draw_ratings(ratings)
    centers = [float(x) for x in re.findall(r'cx="([\d.]+)"', picture)]
    ends = [float(x) for x in re.findall(r'class="bar" x1="([\d.]+)" x2="([\d.]+)"', picture) for x in x]
    assert centers[0] > centers[1]
    assert all(170 <= x <= 640 for x in centers + ends)
    assert ends[0] < centers[0] < ends[1]


def test_equal_ratings_can_be_drawn() -> None:
    assert "<circle" in draw_ratings((Rating("a", 0.0, 0.0, 0.0), Rating("b", 0.0, 0.0, 0.0)))


def test_markdown_keeps_its_columns(standings: Standings) -> None:
    text = format_markdown(standings, "Cup")
    assert text.startswith("# Cup\n")
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(columns) == 1
    assert "<script" not in text


@pytest.mark.parametrize(
    ("rating", "text"),
    [
        (Rating("a", 5, -35.4, 41.2), "−35 … 41"),
        (Rating("a", 0, 0, 0), "anchor"),
        (Rating("a", None, 500, None), "≥ 500"),
        (Rating("a", None, None, -500), "≤ −500"),
        (Rating("a", None, None, None), "–"),
    ],
)
def test_intervals(rating: Rating, text: str) -> None:
    assert format_interval(rating) == text


def test_a_bound_is_shown_and_drawn_without_a_rating(settings: TournamentSettings, make_record: MakeRecord) -> None:
    standings = count_standings(settings, [make_record("alp", NASTY, "B+3.5", number=n) for n in range(3)])
    first, second = report_tables(standings)[0].rows
    assert first[2:4] == ("0", "anchor")
    assert second[1:3] == (NASTY, "–")
    assert second[3].startswith("≤ ")
    picture = draw_ratings(standings.ratings.ratings)
    assert (picture.count("<circle"), picture.count('class="bar"')) == (1, 2)
    assert standings.to_json()["ratings"][1]["rating"] is None


def test_running_scores() -> None:
    assert format_score(Score(12, 1, 7)) == "12–7 with 1 draw, 62.5 % (41–80)"
    assert format_score(Score()) == "0–0, –"


def test_progress_shows_the_score_on_a_terminal_and_nothing_elsewhere(
    settings: TournamentSettings, make_record: MakeRecord
) -> None:
    for terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=160, color_system=None)
        with TournamentProgress(settings, console) as progress:
            progress.add(make_record("alp", NASTY, "B+3.5"))
            progress.add(make_record(NASTY, "alp", "B+3.5", number=1))
        assert isinstance(console.file, io.StringIO)
        shown = console.file.getvalue()
        assert ("1–1, 50.0 %" in shown and "2/4" in shown) if terminal else shown == ""

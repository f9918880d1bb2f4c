"""The board in a real browser: playing, layers, records, the editor, and what a page must not do.

Screenshots are kept in the test's temporary folder, or where ``KATACHI_SCREENSHOTS`` says.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from helpers.held_engine import GATE
from helpers.web_pages import click_point, keep, stones, wait_until_live
from katachi.core.contracts import Limit
from katachi.go.points import PASS, Reason, parse_vertex
from katachi.sgf import parse_sgf
from katachi.web.engines import LayersJob, Position, Seen
from web.conftest import RunningServer

DIRTY = r"""From: somebody
(;SZ[9]KM[6,5]PB[<img src=x onerror=alert(1)>]PW[`${alert(2)}`]C[</script><script>alert(3)</script>]
;B[ee]C[first];W[ee](;B[cc]LB[cc:<b>])(;B[gg]C[second <svg onload=alert(4)>];W[cg]TR[aa]"""
JUDGE = "shapes-9"


@pytest.fixture
def pictures(tmp_path) -> Path:
    folder = Path(os.environ.get("KATACHI_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_game_is_played_to_its_end_and_counted(visit, server, pictures):
    page = visit("/new?player=alp&size=9")
    for number, vertex in enumerate(("E5", "C3", "G7"), 1):
        click_point(page, parse_vertex(vertex, 9))
        page.wait_for_function(f"document.querySelectorAll('[data-stone]').length === {2 * number}")
    page.keyboard.press("n")
    page.wait_for_function("document.querySelectorAll('[data-label]').length === 6")
    keep(page, pictures / "game.png")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 4")
    page.get_by_role("button", name="Redo").click()
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 6")
    page.keyboard.press("u")
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 4")
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Resign this game?").wait_for(state="hidden")
    pass_to_the_end(page)
    status = page.get_by_role("status")
    status.get_by_text("wins by").wait_for()
    before = status.inner_text()
    click_point(page, next(iter(stones(page))))  # it was dead, or it is now: the count is another
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)
    counted = re.search(r"(Black|White) wins by (\d+(?:\.\d)?)", status.inner_text())
    keep(page, pictures / "counting.png")
    page.get_by_role("button", name="Accept the count").click()
    page.get_by_role("button", name="Pass").wait_for(state="hidden")
    card = page.get_by_role("region", name="The game is over")
    card.locator(".k-tally .k-clock").nth(1).wait_for()
    totals = [float(text) for text in card.locator(".k-tally .k-clock").all_inner_texts()]
    assert abs(totals[0] - totals[1]) == float(counted[2])
    assert card.get_by_role("button", name="Rematch").is_visible()
    record = saved_record(page)
    assert str(record.result) == f"{counted[1][0]}+{counted[2]}"
    moves = record.replay().moves
    assert [play.move for play in moves[-2:]] == [PASS, PASS]
    drawn = len(stones(page))

    # It is all there again, in this browser alone, when the server is.
    address = page.url
    server.stop()
    server.start()
    page.reload()
    wait_until_live(page)
    page.get_by_text(f"{counted[1]} wins by {counted[2]}").first.wait_for()
    assert len(stones(page)) == drawn
    stranger = visit()
    stranger.goto(address)
    stranger.get_by_text("There is no such game of yours.").wait_for()
    assert stranger.locator("[data-stone]").count() == 0


def pass_to_the_end(page) -> None:
    """Pass until the opponent has nothing to do any more."""
    accept = page.get_by_role("button", name="Accept the count")
    while not accept.is_visible():
        moves = int(page.locator(".k-place").inner_text().split("/")[0])
        page.keyboard.press("p")
        page.wait_for_function(
            "moves => +document.querySelector('.k-place').innerText.split('/')[0] >= moves + 2", arg=moves
        )


def saved_record(page, name: str = "record"):
    return parse_sgf(page.request.get(f"{page.url}/{name}.sgf").body())[0]


def test_the_board_can_be_used_while_the_engine_is_prepared(browser, tmp_path, pictures):
    """With nothing compiled yet, and an engine that is held back."""
    gate, paths = tmp_path / "gate", os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    variables = {GATE: str(gate), "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    katachi = ("-c", "from helpers.held_engine import serve; serve()")
    server = RunningServer(tmp_path / "data", katachi, **variables)
    page = browser.new_page()
    page.set_default_timeout(150_000)
    page.goto(server.url)
    page.goto(server.at("/new?player=alp&size=9"))
    wait_until_live(page)
    page.get_by_text("Preparing the engine: it is compiled, once").wait_for()
    assert page.get_by_role("progressbar").get_attribute("aria-valuenow") == "0.25"
    click_point(page, parse_vertex("E5", 9))
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 1")
    keep(page, pictures / "preparing.png")
    assert page.get_by_text("Preparing the engine").is_visible()
    gate.touch()
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    page.get_by_text("Preparing the engine").wait_for(state="hidden")
    page.close()
    server.stop()


def test_layers_show_what_the_players_say(visit, pictures):
    page = visit("/new?player=alp&size=9")
    for key in ("Shift+ArrowUp", "Shift+ArrowDown", "Enter"):  # from the center and back
        page.keyboard.press(key)
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    assert stones(page)[40] == "black"
    page.keyboard.press("Escape")
    choose_judge(page)
    seen = look_at(saved_record(page))
    for layer in seen.layers:
        page.locator(f"[data-layer={layer.name}]").click()
        page.get_by_text(layer.legend).wait_for()
        keep(page, pictures / f"layer-{layer.name}.png")
        if layer.labels is not None:
            shown = page.locator("[data-heat] text").all_text_contents()
            assert sorted(shown) == sorted(label for label in layer.labels if label)
        point = next(point for point in range(81) if layer.describe(point) and abs(layer.values[point]) > 0)
        point_at(page, point)
        assert layer.describe(point) in page.get_by_test_id("hover-note").inner_text()
    assert {layer.name for layer in seen.layers} >= {"wins", "policy", "territory", "influence", "shapes"}
    page.locator("[data-layer=shapes]").click()
    page.locator("[data-heat]").first.wait_for(state="detached")


def choose_judge(page, judge: str = JUDGE) -> None:
    page.get_by_label("Analysed by").click()
    page.get_by_role("option", name=judge, exact=True).click()


def look_at(record, judge: str = JUDGE, rank: int = 9) -> Seen:
    """The same by the Python interface."""

    class Silent:
        is_due = False

    return LayersJob(judge, Position.of(record.replay()), Limit(seconds=1.0), rank).run(Silent(), Event())


def test_the_rank_slider_shows_what_others_would_play(visit, pictures):
    page = visit("/new?player=alp&size=19")
    click_point(page, parse_vertex("Q16", 19))
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    choose_judge(page, "level-10")
    page.locator("[data-layer=policy]").click()
    slider = page.locator(".q-slider")
    slider.wait_for()
    policies = {rank: policy_of(page, rank) for rank in (9, 1)}
    point = int(np.nanargmax(abs(policies[9].values - policies[1].values)))
    assert policies[9].describe(point) != policies[1].describe(point)
    for rank, place in ((9, 1.0), (1, 0.0)):
        slider.click(position={"x": place * (slider.bounding_box()["width"] - 1), "y": 12})
        page.get_by_text(f"What {rank}d players would play").wait_for()
        point_at(page, point)
        page.get_by_test_id("hover-note").get_by_text(policies[rank].describe(point)).wait_for()
        keep(page, pictures / f"rank-{rank}.png")


def test_one_position_is_seen_in_four_ways(visit, pictures):
    """A stone on one board is a stone on all; beginners are thought to play otherwise than the strongest."""
    page = visit("/models")
    boards = page.locator(".k-ways > div")
    assert boards.count() == 4

    def wait_for(count: int) -> None:
        for number in range(4):
            boards.nth(number).locator("[data-heat]").first.wait_for(state="attached")
            assert boards.nth(number).locator("[data-stone]").count() == count

    wait_for(6)
    strongest = boards.nth(1).locator("[data-heat] text").all_text_contents()
    page.get_by_role("button", name="20k").click()
    page.wait_for_function(
        "before => { const board = document.querySelectorAll('.k-ways > div')[1];"
        " const now = [...board.querySelectorAll('[data-heat] text')].map(text => text.textContent);"
        " return now.length > 0 && now.join() !== before.join(); }",
        arg=strongest,
    )
    border = boards.nth(2).locator(".kb-border")
    border.click(position={"x": 1, "y": 1}, force=True)
    page.wait_for_function("document.querySelectorAll('.k-ways [data-stone]').length === 28")
    wait_for(7)
    keep(page, pictures / "four-ways.png")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("document.querySelectorAll('.k-ways [data-stone]').length === 24")


def policy_of(page, rank: int):
    seen = look_at(saved_record(page), "level-10", rank)
    return next(layer for layer in seen.layers if layer.name == "policy")


def point_at(page, point: int) -> None:
    click_point(page, point, only_hover=True)
    page.get_by_test_id("hover-note").wait_for()


def test_a_killed_engine_is_told_and_asked_again(visit, server, pictures):
    page = visit("/new?player=strong-9&size=9")
    click_point(page, 40)
    page.get_by_text("strong-9 is thinking").wait_for()
    for engine in server.engines():
        os.kill(engine, signal.SIGKILL)
    page.get_by_text("its process has ended (SIGKILL). Your game is as it was").wait_for()
    keep(page, pictures / "killed.png")
    assert stones(page) == {40: "black"}
    assert [play.move for play in saved_record(page).replay().moves] == [40]
    page.get_by_role("button", name="Ask again").click()
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")


def test_a_clock_runs_and_ends_the_game(visit, server, pictures):
    page = visit("/new?player=alp&size=9")  # so that a process is ready to think when the clock runs
    click_point(page, 40)
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    page.goto(server.at("/"))
    wait_until_live(page)
    page.get_by_text("Handicap, komi, rules, clock").click()
    page.get_by_text("Laboratory").click()
    page.get_by_role("combobox", name="Opponent").click()
    page.get_by_role("option", name="alp", exact=True).click()
    page.get_by_role("combobox", name="Clock").click()
    page.get_by_role("option", name="Byo-yomi periods").click()
    for field, value in (("Minutes", "0.1"), ("Seconds", "1"), ("Periods", "2")):
        page.get_by_label(field).fill(value)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/game/*")
    wait_until_live(page)
    assert page.locator(".k-player .k-clock").all_inner_texts() == ["0:06", "0:06"]
    click_point(page, 40)
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    page.get_by_text("White wins on time").first.wait_for()  # we did nothing more
    assert page.locator(".k-player .k-clock").first.inner_text() == "0:00"
    keep(page, pictures / "clock.png")
    assert saved_record(page).result.reason is Reason.TIME


def test_a_dirty_record_is_opened_walked_reviewed_and_saved(visit, tmp_path, pictures):
    page = visit()
    keep(page, pictures / "start.png")
    file = tmp_path / "dirty.sgf"
    file.write_text(DIRTY, encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("This file needed").click()
    page.get_by_text("komi '6,5' taken for 6.5").wait_for()
    wait_until_live(page)
    page.get_by_text("</script><script>alert(3)</script>").wait_for()  # as text
    page.keyboard.press("ArrowRight")
    page.get_by_text("first", exact=True).wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="b G3").click()
    page.get_by_text("second <svg onload=alert(4)>").wait_for()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("document.querySelector('[data-label]')?.textContent === '<b>'")
    choose_judge(page)
    page.get_by_role("button", name="Review the game").click()
    page.get_by_role("button", name="Review again").wait_for()
    page.get_by_text("Numbers", exact=True).click()
    page.get_by_text("Black wins").first.wait_for()
    keep(page, pictures / "record.png")
    page.get_by_test_id("graph").click(position={"x": 2, "y": 20})
    page.get_by_text("0 / 3").wait_for()
    plain, analyzed = saved_record(page), saved_record(page, "analyzed")
    assert plain.black == "<img src=x onerror=alert(1)>"
    assert plain.root.text("C") == "</script><script>alert(3)</script>"
    assert len(plain.root.children[0].children[0].children) == 2
    assert "SBKV" in analyzed.root.children[0].properties
    assert "SBKV" not in plain.root.children[0].properties


def test_the_browser_fetches_a_record_from_another_site(visit, server):
    """If that site allows it; no other page may connect to one, and the server never does."""
    page = visit()
    asked = []

    def answer(route) -> None:
        asked.append(route.request)
        allowed = "*" if "open" in route.request.url else "https://games.example"
        route.fulfill(body="(;SZ[9]PB[Ann];B[ee];W[cc])", headers={"access-control-allow-origin": allowed})

    page.route(re.compile("^https://games"), answer)
    for name in ("closed", "open"):
        page.goto(server.at("/"))
        wait_until_live(page)
        page.get_by_label("Or a web address").fill(f"https://games.example/{name}.sgf")
        page.get_by_role("button", name="Open", exact=True).click()
        if name == "closed":
            page.get_by_text("Your browser may not read that file").wait_for()
    page.wait_for_url("**/game/*")
    wait_until_live(page)
    assert len(saved_record(page).replay().moves) == 2
    assert len(asked) == 2
    assert not any("cookie" in request.headers or "referer" in request.headers for request in asked)
    with pytest.raises(Exception, match="Failed to fetch"):
        page.evaluate("fetch('https://games.example/open.sgf')")
    page.goto(server.at("/fetch?address=http://127.0.0.1:1/open.sgf"))
    page.get_by_text("Your browser may not read that file").wait_for()
    assert len(asked) == 2


# Black wastes a move at the edge, and so does White.
BLUNDERS = "(;SZ[9]KM[7]RU[Chinese]PB[Ann]PW[Ben];B[ee];W[ge];B[ai];W[gc];B[eg];W[ia])"


def test_a_review_outlives_page_and_server_and_shows_the_better_move(visit, server, tmp_path, pictures):
    page = visit()
    file = tmp_path / "blunders.sgf"
    file.write_text(BLUNDERS, encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    page.wait_for_url("**/game/*")
    wait_until_live(page)
    page.get_by_label("Analysed by").click()
    page.get_by_role("option").first.wait_for()
    names = page.get_by_role("option").all_inner_texts()
    assert {"level-10", "shapes-9"} <= set(names)
    assert {"random", "alp", "level-1", "policy-9"}.isdisjoint(names)
    page.get_by_role("option", name="level-10", exact=True).click()
    page.get_by_role("button", name="Review the game").click()
    page.get_by_test_id("graph").wait_for()
    address = page.url
    page.goto(server.at("/"))
    server.stop()
    server.start()
    page.goto(address)
    wait_until_live(page)
    page.get_by_role("button", name="Review again").wait_for()
    page.keyboard.press("Home")
    page.locator(".k-place").get_by_text("0 / 6").wait_for()
    mistakes = ["0"]
    while mistakes[-1] != "6":  # the last move, which is one for sure
        page.keyboard.press("m")
        page.wait_for_function(f"!document.querySelector('.k-place').innerText.startsWith('{mistakes[-1]} /')")
        mistakes.append(page.locator(".k-place").inner_text().split(" / ")[0])
    assert "3" in mistakes
    ghost = page.locator("[data-ghost]")
    ghost.wait_for()
    page.locator(".k-sentence").get_by_text("was better").wait_for()
    assert page.locator(".k-mistake").count() <= 6
    drawn = len(stones(page))
    keep(page, pictures / "review.png")
    page.get_by_role("button", name="Better:").click()
    labels = "document.querySelectorAll('[data-label]').length"
    page.wait_for_function(f"{labels} === 1")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{labels} === 2")
    page.get_by_role("button", name="Played:").click()
    page.locator(".k-review .k-number").get_by_text(re.compile("^1 / ")).wait_for()
    page.keyboard.press("Escape")
    ghost.wait_for()
    assert len(stones(page)) == drawn
    graph = page.get_by_test_id("graph").bounding_box()
    page.mouse.move(graph["x"] + 4, graph["y"] + 40)
    page.mouse.down()
    page.mouse.move(graph["x"] + graph["width"] - 4, graph["y"] + 40, steps=5)
    page.mouse.up()
    page.get_by_text("6 / 6").wait_for()
    assert saved_record(page, "analyzed").root.text("C") != ""
    page.goto(server.at("/games"))
    wait_until_live(page)
    page.get_by_text("reviewed").wait_for()
    page.get_by_label("Find a game").fill("nobody")
    page.get_by_text("No game has these words.").wait_for()
    page.get_by_label("Find a game").fill("ann ben")
    page.get_by_role("link", name="Ann – Ben").wait_for()


def test_the_first_page_is_a_board_and_teaching_stops_at_a_blunder(visit, server, pictures):
    page = visit()
    click_point(page, 40)
    page.wait_for_url("**/game/*")
    wait_until_live(page)
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    page.keyboard.press("h")
    page.get_by_text("looks best").wait_for()
    page.locator("[data-ghost]").wait_for()
    page.keyboard.press("t")
    page.get_by_text("Black owns about").wait_for()
    page.keyboard.press("t")
    page.get_by_text("Black owns about").wait_for(state="hidden")
    page.get_by_text("Teach me").click()
    corner = next(point for point in (0, 8, 72, 80) if point not in stones(page))
    click_point(page, corner)
    page.get_by_role("button", name="Take it back").wait_for()
    keep(page, pictures / "teach.png")
    assert len(stones(page)) == 3, "it is not answered"
    page.get_by_role("button", name="Take it back").click()
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    click_point(page, corner)
    page.get_by_role("button", name="Take it back").or_(page.get_by_text("Your turn")).first.wait_for()
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    page.get_by_role("region", name="The game is over").get_by_role("button", name="Rematch").click()
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 0")


def test_the_editor_on_a_small_screen_by_touch(visit, pictures):
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    keep(page, pictures / "start-360.png")
    page.get_by_role("button", name="Empty board").tap()
    page.wait_for_url("**/game/*")
    wait_until_live(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # The points of 19×19 are small: the first tap shows where, the second plays.
    click_point(page, 60, tap=True)
    page.get_by_test_id("ghost").wait_for()
    assert stones(page) == {}
    click_point(page, 60, tap=True)
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 1")
    page.get_by_role("button", name="Edit").tap()
    page.get_by_role("button", name="Put white stones").tap()
    click_point(page, 61, tap=True)
    page.get_by_test_id("ghost").wait_for()
    click_point(page, 61, tap=True)
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    assert stones(page) == {60: "black", 61: "white"}
    page.get_by_role("button", name="Triangles").tap()
    for _ in range(2):
        click_point(page, 62, tap=True)
    page.locator("[data-mark=triangle]").wait_for()
    keep(page, pictures / "editor-360.png")
    record = saved_record(page)
    assert record.root.children[0].children[0].properties == {"AW": ["ed"], "TR": ["fd"]}


def test_a_pupil_shows_its_shapes_and_values_while_it_plays(visit, pictures):
    page = visit("/learn")
    page.get_by_label("games").press("Home")  # the shortest lesson
    page.get_by_role("button", name="Begin the lesson").click()
    page.get_by_text("Done:").wait_for()
    board = page.locator(".k-live")
    board.locator("rect[data-heat]").first.wait_for(state="attached")  # colors of shapes
    numbers = [int(text) for text in board.locator("g[data-heat] text").all_text_contents()]
    assert numbers
    assert all(0 <= number <= 100 for number in numbers)
    page.get_by_label("Speed").press("End")
    page.wait_for_function("document.querySelectorAll('.k-live [data-stone]').length > 4")
    keep(page, pictures / "lesson.png")


LOOKS = {  # zoomed to 200 %, a window has half as many points
    "light": {"viewport": {"width": 1280, "height": 800}},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "zoomed": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "upright": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
    "sideways": {"viewport": {"width": 800, "height": 360}},
}
AXE = Path(__file__).parents[2] / "build/other-programs/node/node_modules/axe-core/axe.min.js"


@pytest.mark.parametrize("look", LOOKS)
def test_pages_can_be_used_without_seeing_them(visit, server, look):
    """No serious fault by axe-core, which ``make other-programs`` installs."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (make other-programs)")
    page = visit("/new?player=alp&size=9", reduced_motion="reduce", **LOOKS[look])
    click_point(page, 40)
    page.wait_for_function("document.querySelectorAll('[data-stone]').length === 2")
    found = {}
    for path in (
        page.url.removeprefix(server.at("")),
        "/",
        "/games",
        "/puzzles",
        "/models",
        "/models/shapes-5",
        "/runs",
        "/learn",
    ):
        page.goto(server.at(path))
        wait_until_live(page)
        page.wait_for_function("[...document.querySelectorAll('.q-uploader__input')].every(field => field.ariaLabel)")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        violations = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)")
        found[path] = [
            (fault["id"], [node["target"] for node in fault["nodes"]])
            for fault in violations
            if fault["impact"] in ("serious", "critical")
        ]
        assert page.locator("main").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is wider than the window"
    assert not any(found.values()), found

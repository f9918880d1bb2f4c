"""Makes the pictures of the documents: ``make pictures`` starts a board, plays on it in a browser, and looks.

Games and the lesson come from fixed seeds, so the positions and the curve are always the same. Level 10, which
analyses some of them, is random: its numbers differ by a few percent each time.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from PIL import Image

from katachi import PASS, Game, Limit, load_player
from katachi.sgf import parse_sgf

FOLDER: Final = Path(__file__).parent / "pictures"
CHROMIUM: Final = Path("/usr/bin/chromium")
OPPONENT: Final = "shapes"
SEED: Final = 1
WIDE: Final = {"width": 1080, "height": 780}
TALL: Final = {"width": 1080, "height": 1000}
NARROW: Final = {"width": 360, "height": 740}
PATIENCE: Final = 300_000  # milliseconds: a machine may be busy
PUPIL: Final = "level-5"  # who plays for us, and errs now and then
PLAYED: Final = 11  # moves of ours in the game that is looked at
MOST_MOVES: Final = 120  # of both, before the board is counted, if nobody has passed
COLORS: Final = 256


def write_opponent(path: Path) -> None:
    """The player shapes-9 with a seed, which only the command line can give it."""
    command = shlex.join([sys.executable, "-m", "katachi", "gtp", "shapes-9", "--seed", str(SEED)])
    path.write_text(f'kind = "gtp"\nname = "{OPPONENT}"\ncommand = {json.dumps(command)}\n', encoding="utf-8")


@contextmanager
def run_server(folder: Path) -> Iterator[str]:
    """``katachi serve`` on any free port, with data of its own; its address, which begins a game."""
    opponent = folder / "opponent.toml"
    write_opponent(opponent)
    options = ["--no-open", "--port", "0", "--data", str(folder / "games"), "--runs", str(folder / "runs")]
    command = [sys.executable, "-m", "katachi", "serve", str(opponent), "--allow-commands", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


class Photographer:
    """Somebody at a page, with a camera."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self._root = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        self.page = browser.new_context(**options).new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.goto(url)
        self.wait_until_live()

    def go(self, path: str) -> None:
        self.page.goto(self._root + path)
        self.wait_until_live()

    def wait_until_live(self) -> None:
        self.page.wait_for_function("window.socket && window.socket.connected && window.did_handshake")

    def keep(self, name: str, height: int = 0, *, is_top: bool = True) -> None:
        """Write what the window shows, or so much of it from above, in few colors; by default of the page's top."""
        self.page.mouse.move(0, 0)
        if is_top:
            self.page.evaluate("scrollTo(0, 0)")
        self.page.wait_for_timeout(700)  # what fades has faded, what comes late has come
        picture = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        picture = picture.crop((0, 0, picture.width, height or picture.height))
        path = FOLDER / f"{name}.png"
        palette = picture.quantize(COLORS, Image.Quantize.MAXCOVERAGE, kmeans=3)
        picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size // 1000} KB")

    def scroll_to(self, selector: str) -> None:
        self.page.locator(selector).evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 16)")

    def play(self, point: int, *, is_answered: bool = True) -> None:
        """Play a stone, and wait for the answer if there will be one."""
        grid = self.page.locator(".kb-border").bounding_box()
        game = self.game()
        row, column = divmod(point, game.size)
        step = grid["width"] / (game.size - 1)
        self.page.mouse.click(grid["x"] + step * column, grid["y"] + step * row)
        if not is_answered:
            return
        self.page.wait_for_function(
            "moves => +document.querySelector('.k-place').innerText.split('/')[0] >= moves", arg=len(game.moves) + 2
        )

    def game(self) -> Game:
        """The game on this page, as it is saved."""
        return parse_sgf(self.page.request.get(f"{self.page.url}/record.sgf").body())[0].replay()

    def choose_analysis_by(self, name: str) -> None:
        self.page.get_by_label("Analysed by").click()
        self.page.get_by_role("option", name=name, exact=True).click()

    def switch_layer(self, name: str) -> None:
        """Switch a layer on, and wait for it to be looked at for as long as it will be."""
        self.page.locator(f"[data-layer={name}]").click()
        self.page.locator("[data-heat]").first.wait_for()
        self.page.wait_for_timeout(5_000)


def show_playing(guest: Photographer) -> None:
    """A game against the shapes learned on 9×9: help on the way, its end, and the count."""
    adviser = load_player(PUPIL, seed=SEED)
    for _ in range(PLAYED):
        guest.play(adviser.decide(guest.game(), Limit()).move)
    guest.keep("game")
    guest.page.keyboard.press("h")
    guest.page.get_by_text("looks best").wait_for()
    guest.page.wait_for_timeout(5_000)
    guest.keep("hint")
    guest.page.keyboard.press("h")
    guest.page.keyboard.press("t")
    guest.page.get_by_text("Black owns about").wait_for()
    guest.page.wait_for_timeout(5_000)
    guest.keep("territory")
    guest.page.keyboard.press("t")
    guest.choose_analysis_by("shapes-9")
    guest.switch_layer("shapes")
    guest.keep("shapes")
    guest.page.locator("[data-layer=shapes]").click()
    guest.choose_analysis_by("level-10")
    while len(guest.game().moves) < MOST_MOVES and (move := adviser.decide(guest.game(), Limit()).move) != PASS:
        guest.play(move)
    guest.page.get_by_role("button", name="Count").click()
    guest.page.get_by_role("button", name="Accept the count").click()
    guest.page.get_by_role("region", name="The game is over").wait_for()
    guest.keep("end", height=700)


def show_review(guest: Photographer) -> None:
    """The same game gone through: the biggest mistake, and what would have followed."""
    guest.page.get_by_role("button", name="Review now").click()
    guest.page.get_by_text("A closer look").wait_for()
    guest.keep("progress")
    guest.page.get_by_role("button", name="Review again").wait_for()
    guest.page.keyboard.press("Home")
    guest.page.keyboard.press("m")
    guest.page.locator("[data-ghost]").wait_for()
    guest.keep("review")
    guest.page.get_by_role("button", name="Better:").click()
    for _ in range(3):
        guest.page.keyboard.press("ArrowRight")
    guest.page.get_by_text(re.compile("^4 / ")).first.wait_for()
    guest.page.wait_for_timeout(1_000)
    guest.keep("better")
    guest.page.keyboard.press("Escape")


def show_elsewhere(guest: Photographer) -> None:
    """The same table in the dark, and on a telephone."""
    guest.page.emulate_media(color_scheme="dark")
    guest.keep("dark")
    guest.page.emulate_media(color_scheme="light")
    guest.page.set_viewport_size(NARROW)
    guest.keep("narrow")
    guest.page.set_viewport_size(WIDE)


def show_pages(guest: Photographer) -> None:
    """The first page, a puzzle, and a blunder that waits."""
    guest.go("/puzzles")
    guest.page.get_by_role("button", name="Hint").click()
    guest.keep("puzzle")
    guest.go("/")
    guest.keep("start")
    guest.page.get_by_role("button", name="Begin").click()
    guest.page.wait_for_url("**/game/*")
    guest.wait_until_live()
    guest.play(40)
    guest.page.get_by_text("Teach me").click()
    corner = next(point for point in (0, 8, 72, 80) if guest.game().board[point] == 0)
    guest.play(corner, is_answered=False)
    guest.page.get_by_role("button", name="Take it back").wait_for()
    guest.keep("teach")


def show_learning(guest: Photographer) -> None:
    """What a model has learned, and a pupil that learns."""
    guest.go("/models/shapes-9")
    guest.scroll_to("section:has-text('LI 2×2')")
    guest.keep("model", is_top=False)
    guest.go("/learn")
    guest.page.get_by_role("button", name="Begin the lesson").click()
    guest.page.get_by_text("Done:").wait_for()
    guest.page.set_viewport_size(TALL)
    guest.page.locator(".k-live [data-stone]").nth(5).wait_for()
    guest.keep("lesson")


def main() -> None:
    if not CHROMIUM.exists():
        sys.exit(f"there is no {CHROMIUM}: install Debian's package chromium")
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, run_server(Path(folder)) as url, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        guest = Photographer(browser, url, viewport=WIDE)
        show_playing(guest)
        show_review(guest)
        show_elsewhere(guest)
        show_pages(guest)
        show_learning(guest)
        browser.close()


if __name__ == "__main__":
    main()

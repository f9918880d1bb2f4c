"""What browser tests do with a page: click on points of the board, see its stones, keep a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def wait_until_live(page: Any) -> None:
    """Wait until what is clicked reaches the server."""
    page.wait_for_function("window.socket && window.socket.connected && window.did_handshake")


def click_point(page: Any, point: int, *, tap: bool = False, only_hover: bool = False) -> None:
    """Click where a point is drawn: the lines of the board tell where that is."""
    grid = page.locator(".kb-border").bounding_box()
    size = page.locator(".kb-coordinates text").count() // 4
    row, column = divmod(point, size)
    x = grid["x"] + grid["width"] * column / (size - 1)
    y = grid["y"] + grid["height"] * row / (size - 1)
    if tap:
        page.touchscreen.tap(x, y)
    elif only_hover:
        page.mouse.move(x, y)
    else:
        page.mouse.click(x, y)


def stones(page: Any) -> dict[int, str]:
    """The color of every stone by its point."""
    drawn = page.locator("[data-stone]").evaluate_all("all => all.map(s => [s.dataset.stone, s.dataset.color])")
    return {int(point): color for point, color in drawn}


def keep(page: Any, path: Path) -> None:
    page.screenshot(path=path)

"""The few kinds of buttons and fields that all pages are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from nicegui import ui

FIELD: Final = "outlined dense options-dense"  # the props of a field

OnClick = Callable[[], Any]


def main_button(text: str, on_click: OnClick) -> ui.button:
    """What one most likely wants to do."""
    return ui.button(text, on_click=on_click, color=None).props("unelevated no-caps").classes("k-main-button")


def quiet_button(text: str, on_click: OnClick, icon: str | None = None) -> ui.button:
    """Something that one may do."""
    return ui.button(text, on_click=on_click, icon=icon, color=None).props("unelevated no-caps").classes("k-quiet")


def icon_button(icon: str, name: str, on_click: OnClick) -> ui.button:
    """A button that shows a picture; its name is for readers who see none, and for who points at it."""
    button = ui.button(icon=icon, on_click=on_click, color=None).props(f'flat round dense aria-label="{name}"')
    return button.classes("k-icon").tooltip(name)


def select(options: Any, value: Any, label: str) -> ui.select:
    """A field where one of several things is chosen."""
    return ui.select(options, value=value, label=label).props(FIELD)


def number(label: str, value: float, **limits: Any) -> ui.number:
    """A field for a number."""
    return ui.number(label, value=value, **limits).props("outlined dense")


def mark_chosen(button: ui.button, is_chosen: bool) -> None:
    """Show whether a button is the one in force."""
    if is_chosen:
        button.classes(add="k-on")
    else:
        button.classes(remove="k-on")

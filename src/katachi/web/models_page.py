"""The pages of the shipped models: a list of them, and for each what it learned."""

from __future__ import annotations

import asyncio

from nicegui import ui
from starlette.requests import Request

from katachi.web import texts
from katachi.web.learned import Section, describe_model, draw_learned, model_names
from katachi.web.settings import TableError
from katachi.web.shell import page_frame, show_error


def build_models_page(request: Request) -> None:
    """All models."""
    with page_frame(request, texts.MODELS_PAGE, here="/models"), ui.element("main").classes("k-main k-stack"):
        ui.label(texts.MODELS_PAGE).classes("k-title")
        ui.label(texts.MODELS_LEAD).classes("k-soft")
        with ui.element("div").classes("k-card k-games"):
            for name in model_names():
                with ui.element("div").classes("k-game-row"):
                    ui.link(name, f"/models/{name}")
                    ui.label(describe_model(name)).classes("k-soft k-small")


async def build_model_page(name: str, request: Request) -> None:
    """One model."""
    try:
        learned = await asyncio.to_thread(draw_learned, name)
    except TableError as error:
        show_error(request, error)
        return
    with page_frame(request, name, here="/models"), ui.element("main").classes("k-main k-stack"):
        ui.label(texts.LEARNED.format(name=name)).classes("k-title")
        ui.label(learned.lead).classes("k-soft")
        with ui.element("div").classes("k-card k-facts"):
            for word, value in learned.card:
                ui.label(word).classes("k-soft k-small")
                ui.label(value).classes("k-plain k-small")
        for section in learned.sections:
            _add_section(section)


def _add_section(section: Section) -> None:
    with ui.element("section").classes("k-card"):
        ui.label(section.title).classes("k-sub")
        with ui.element("div").classes("k-figures"):
            for figure in section.figures:
                with ui.element("figure").classes("k-figure"):
                    ui.html(figure.svg, sanitize=False)  # drawn by us, every text in it escaped
                    if figure.number:
                        ui.label(figure.number).classes("k-small k-clock")

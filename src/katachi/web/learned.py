"""What a shipped model has learned, as pictures: shapes, kernels, or moves on the empty board, and its curves."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from katachi.core.contracts import LinearEvaluator
from katachi.core.drawing import describe_shape, draw_shape, format_weight
from katachi.core.models import describe_card, load_crbm, open_model, shipped_models
from katachi.crbm.drawing import NamedCrbm, draw_kernels
from katachi.crbm.evaluator import CrbmCard
from katachi.go.game import Game
from katachi.policy.drawing import draw_policy, judge_position
from katachi.shapes.drawing import largest_shapes
from katachi.web import texts
from katachi.web.chart import draw_chart
from katachi.web.settings import TableError
from katachi.web.watched_runs import read_curves

_PER_SET: Final = 12
_USUAL_SIZE: Final = 9  # of the empty board for a model of all sizes


class Figure(NamedTuple):
    """A picture, which is markup of ours, and the number below it, if there is one."""

    svg: str
    number: str = ""


class Section(NamedTuple):
    """Pictures that belong together."""

    title: str
    figures: tuple[Figure, ...]


class Learned(NamedTuple):
    """All that a page tells of a model; ``card`` is words and values."""

    name: str
    lead: str
    card: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def model_names() -> list[str]:
    """The models that ship."""
    return [path.name for path in shipped_models()]


def describe_model(name: str) -> str:
    """What a model is, in a line."""
    return describe_card(open_model(_find(name)).card)[0][1]


def _find(name: str) -> Path:
    for path in shipped_models():
        if path.name == name:
            return path
    raise TableError(texts.NO_MODEL)


@lru_cache(maxsize=16)
def draw_learned(name: str) -> Learned:
    """Draw what a model has learned; raises TableError if none of that name ships. It takes a second or two."""
    path = _find(name)
    learned = _draw_kind(name, path)
    curves = read_curves(path)
    if not curves:
        return learned
    return learned._replace(sections=(*learned.sections, Section(texts.CURVES, (Figure(draw_chart(curves)),))))


def _draw_kind(name: str, path: Path) -> Learned:
    saved = open_model(path)
    card = tuple(describe_card(saved.card))
    if isinstance(saved.card, CrbmCard):
        figure = Figure(draw_kernels([NamedCrbm(name, load_crbm(path)[0])]))
        return Learned(name, texts.KERNELS_LEAD, card, (Section(texts.KERNELS, (figure,)),))
    model = saved.load()
    if isinstance(model, LinearEvaluator):
        return Learned(name, texts.SHAPES_LEAD, card, _draw_shapes(model))
    game = Game(saved.card.board_size or _USUAL_SIZE)
    figure = Figure(draw_policy(judge_position(model, game)))
    return Learned(name, texts.POLICY_LEAD, card, (Section(texts.EMPTY_BOARD, (figure,)),))


def _draw_shapes(model: LinearEvaluator) -> tuple[Section, ...]:
    sets = largest_shapes(model.features, model.weights, _PER_SET)
    return tuple(
        Section(
            row.name,
            tuple(
                Figure(draw_shape(learned.shape, describe_shape(learned)), format_weight(learned.weight))
                for learned in row.shapes
            ),
        )
        for row in sets
    )

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from helpers.random_crbms import KINDS, random_weights
from katachi.core.drawing import DrawRequest
from katachi.core.models import open_model
from katachi.crbm.config import CrbmConfig
from katachi.crbm.drawing import NamedCrbm, draw, draw_kernels, list_kernels, rank_kernels
from katachi.crbm.evaluator import SavedCrbm, save_crbm
from katachi.go.points import BLACK, EMPTY, WHITE

SVG = "{http://www.w3.org/2000/svg}"
CONFIG = CrbmConfig(size=5, kernels=3, kernel_size=2)
USE = np.array([0.1, 0.3, 0.2], dtype=np.float32)


def make(config: CrbmConfig = CONFIG, use: np.ndarray | None = USE) -> SavedCrbm:
    return SavedCrbm(config, random_weights(config), use)


def test_kernels_are_ranked_by_use_and_drawn_as_their_strongest_states():
    crbm = make()
    crbm.weights["first.kernels"][1] = [[[9, 0], [0, 0]], [[0, 9], [0, 0]], [[0, 0], [9, 9]]]
    ranked = rank_kernels(crbm)
    assert [kernel.number for kernel in ranked] == [1, 2, 0]
    assert [cell.stone for cell in ranked[0].strongest.cells] == [BLACK, WHITE, EMPTY, EMPTY]
    assert ranked[0].channels.sum(axis=0) == pytest.approx(0, abs=1e-5)
    assert ranked[0].caption == "2: on 30.0%"
    assert [kernel.caption for kernel in rank_kernels(make(use=None), count=2)] == ["1", "2"]


def test_stones_of_all_liberties_are_one_channel():
    config = CrbmConfig(size=5, kernels=1, kernel_size=1, liberties=True)
    crbm = make(config, use=None)
    crbm.weights["first.kernels"][0, :, 0, 0] = [3, 4, 5, 0, 0, 0, 1]
    (kernel,) = rank_kernels(crbm)
    assert kernel.channels[:, 0, 0] == pytest.approx(np.array([4, 0, 1]) - 5 / 3)


def test_a_second_layer_is_drawn_as_what_it_sees_on_the_board():
    config = CrbmConfig(size=5, kernels=2, kernel_size=2, second_kernels=1, second_size=2)
    crbm = make(config, use=None)
    first, second = crbm.weights["first.kernels"], crbm.weights["second.kernels"]
    (kernel,) = rank_kernels(crbm)
    assert kernel.channels.shape == (3, 3, 3)
    corner = np.tensordot(second[0, :, 0, 0], first[:, :, 0, 0], 1)
    assert kernel.channels[:, 0, 0] == pytest.approx(corner - corner.mean(), abs=1e-5)
    middle = sum(second[0, k, u, v] * first[k, :, 1 - u, 1 - v] for k in range(2) for u in range(2) for v in range(2))
    assert kernel.channels[:, 1, 1] == pytest.approx(middle - middle.mean(), abs=1e-5)


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS.keys())
def test_every_kind_can_be_drawn(config):
    svg = ElementTree.fromstring(draw_kernels([NamedCrbm("one", make(config, use=None))], count=2))
    side = rank_kernels(make(config, use=None))[0].channels.shape[-1]
    squares = [rect for rect in svg.iter(f"{SVG}rect") if rect.get("class")]
    assert len(squares) == 2 * 3 * side * side


def test_side_by_side_and_as_a_page(tmp_path):
    crbms = [NamedCrbm("multi & nomial", make()), NamedCrbm("<real>", make(use=None))]
    svg = ElementTree.fromstring(draw_kernels(crbms))
    titles = [text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "title"]
    assert titles == ["multi & nomial", "<real>"]
    for crbm in crbms:
        save_crbm(tmp_path / crbm.name, crbm.crbm)
    request = DrawRequest(crbms[0].name, per_set=2, beside=(str(tmp_path / "<real>"),))
    drawing = draw(open_model(tmp_path / crbms[0].name), request)
    assert drawing.title == "The kernels of multi & nomial and <real>"
    assert drawing.svg == draw_kernels(crbms, 2)
    page = drawing.format_page([("model", "a & b")])
    assert "&lt;real&gt;" in page
    assert "a &amp; b" in page
    listed = list_kernels(crbms[0], count=1)
    assert (listed.shapes[0].index, listed.shapes[0].words) == (1, "2: on 30.0%")

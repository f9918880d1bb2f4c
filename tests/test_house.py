"""What ARCHITECTURE.md promises about the plan of the house, counted by tools/house.py."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def load_house():
    spec = spec_from_file_location("house", ROOT / "tools" / "house.py")
    module = module_from_spec(spec)
    sys.modules["house"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


house = load_house()


@pytest.fixture(scope="module")
def modules():
    return house.read_modules()


@pytest.fixture(scope="module")
def numbers():
    return house.measure()


def test_there_are_few_modules(numbers):
    assert numbers.modules <= 185
    assert numbers.lines <= 66_400  # 50,000 is wanted: may it shrink


def test_no_folder_is_large(modules):
    assert {folder: files for folder, files in house.folders(modules).items() if files > 12} == {}


def test_a_system_is_named_by_itself_alone(modules):
    assert house.crossing_imports(modules) == []
    assert house.imports_between_systems(modules) == []
    assert house.imports_by_shared(modules) == []


def test_nobody_asks_what_kind_a_model_is(modules):
    assert house.isinstance_on_kinds(modules) == []


def test_kernels_are_known_by_one_pattern():
    assert house.kernel_patterns() == ["katachi.*.kernels.*"]


def test_the_architecture_is_a_short_page(numbers):
    assert numbers.architecture_bytes <= 8192


def test_what_is_counted(tmp_path):
    source = tmp_path / "src" / "katachi"
    files = {
        "__init__.py": '"""All."""\n',
        "core/cards.py": "from katachi.shapes.model import Model\n\n\ndef kind(x):\n    return isinstance(x, Model)\n",
        "shapes/__init__.py": '"""Shapes."""\n\nSYSTEM = 1\n',
        "shapes/model.py": "class Model:\n    pass\n",
        "crbm/value.py": "def f():\n    from katachi.shapes import model\n",
    }
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    found = house.read_modules(tmp_path)
    assert [module.name for module in found if module.is_marker] == ["katachi", "katachi.shapes"]
    assert house.crossing_imports(found) == [("katachi.core.cards", "katachi.shapes.model")]
    assert house.isinstance_on_kinds(found) == [("katachi.core.cards", "Model")]
    assert house.imports_between_systems(found) == [("katachi.crbm.value", "katachi.shapes")]

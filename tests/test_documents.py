"""The documents say what is true of the source."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import katachi
from katachi.gtp.engine import commands

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "katachi"


def test_files_that_the_pages_name_exist() -> None:
    for page in ("ARCHITECTURE.md", "CONCEPTS.md", "README.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]*(?:\.py)?)`", text):
            assert any((place / name).exists() for place in (SOURCE, ROOT)), f"{page}: {name}"


def test_the_architecture_is_short_and_shows_every_package_in_the_order_of_the_layers() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= 8_000
    shown = re.findall(r"(?:^|\|\s+)(\w+)/  ", text.split("```")[1], re.M)
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert shown == [name for layer in layers for name in layer.split(" | ")]


def test_a_reader_walks_through_eight_modules_at_most() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walks = re.split(r"^\d\. ", text.split("## Four walks")[1].split("\n## ")[0], flags=re.M)[1:]
    modules = [re.findall(r"`(\S+\.py)`", walk) for walk in walks]
    assert len(modules) == 4
    assert all(1 < len(walk) <= 8 for walk in modules)


def test_every_gtp_command_is_documented() -> None:
    text = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    table = text.split("## The commands")[1].split("`katachi gtp` answers")[0]
    assert sorted(re.findall(r"`([\w-]+)`", table)) == commands.names


def test_links_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_public_names_are_importable_and_listed_once() -> None:
    assert sorted(katachi.__all__) == sorted(set(katachi.__all__)) == sorted(katachi._HOME_OF)
    for name in katachi.__all__:
        assert getattr(katachi, name) is not None


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == katachi.__version__


def test_every_picture_is_shown_and_small() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    shown = {name for page in pages for name in re.findall(r"pictures/(\w+\.png)\)", page.read_text(encoding="utf-8"))}
    pictures = {path.name: path.stat().st_size for path in ROOT.glob("docs/pictures/*")}
    assert shown == set(pictures)
    assert max(pictures.values()) <= 150_000

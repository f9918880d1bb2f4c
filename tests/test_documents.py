"""The documents say what is true of the source."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import katachi
from katachi.gtp.engine import commands

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "katachi"


def test_the_architecture_lists_every_file_and_no_other() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = []
    for section in re.split(r"^### ", text.split("## One coding")[0], flags=re.MULTILINE)[1:]:
        home = re.match(r"`([\w/.]+)`", section)[1]
        listed += (
            [home] if home.endswith(".py") else [home + name for name in re.findall(r"^\| `(\S+\.py)`", section, re.M)]
        )
    files = {str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py") if not file.name.startswith("__")}
    assert len(listed) == len(set(listed))
    assert set(listed) == files


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

"""The documents say what is true of the source."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


def anchors(page: Path) -> set[str]:
    """What a link to a heading of a page may name, as GitHub and the site make it."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def wrong_links(page: Path) -> list[str]:
    """Links of a page that lead to no file, or to no heading of a page."""
    wrong = []
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8")):
        path = page.parent / target if target else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            wrong.append(f"{target}#{anchor}")
    return wrong


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    assert {str(page): wrong for page in pages if (wrong := wrong_links(page))} == {}


def test_wrong_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# One: *two*\n```\n# no title\n```\n")
    page = tmp_path / "a.md"
    page.write_text(
        "# Here\n[1](b.md) [2](b.md#one-two) [3](#here) [4](https://x.org/c.md)\n"
        "[5](c.md) [6](b.md#no-title)\n[7](#there)"
    )
    assert wrong_links(page) == ["c.md#", "b.md#no-title", "#there"]


def test_public_names_are_importable_and_listed_once() -> None:
    assert sorted(katachi.__all__) == sorted(set(katachi.__all__)) == sorted(katachi._HOME_OF)
    for name in katachi.__all__:
        assert getattr(katachi, name) is not None


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    newest = re.findall(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert [project["version"], *citation, newest] == [katachi.__version__] * 3


def test_every_picture_is_shown_and_small() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    shown = {name for page in pages for name in re.findall(r"pictures/(\w+\.png)\)", page.read_text(encoding="utf-8"))}
    pictures = {path.name: path.stat().st_size for path in ROOT.glob("docs/pictures/*")}
    assert shown == set(pictures)
    assert max(pictures.values()) <= 150_000


# The site


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert pages <= set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed: pip install '.[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    loaded = re.compile(r"<(?:script|img|iframe)[^>]* src=\"https?:|<link[^>]* href=\"https?:|@import|url\(https?:")
    pages = [*tmp_path.glob("site/**/*.html"), *tmp_path.glob("site/**/*.css")]
    assert len(pages) > 30
    assert [page.name for page in pages if loaded.search(page.read_text(encoding="utf-8"))] == []
    reference = (tmp_path / "site" / "reference" / "cli.html").read_text(encoding="utf-8")
    assert "katachi train policy" in reference
    assert "--exclude-duplicates" in reference

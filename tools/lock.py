"""Write the hashes of what katachi needs to run, so that pip installs nothing else.

    python tools/lock.py requirements.lock          # after a change of constraints.txt; asks PyPI
    pip install --require-hashes -r requirements.lock && pip install --no-deps --no-build-isolation .

Versions are those of constraints.txt; there are packages that katachi needs, with its board in the browser, those that
these need, on other systems too, and what builds it. Every file that PyPI has of a version is named by its SHA-256.
What only trains and tests is left out: torch comes from elsewhere, for a CPU alone.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path
from typing import Final
from urllib.request import urlopen

from packaging.requirements import Requirement

from sbom import closure, normalize, read_pins

ROOT: Final = Path(__file__).parents[1]
_LINK: Final = re.compile(r"<a [^>]*#sha256=(?P<digest>[0-9a-f]{64})[^>]*>(?P<file>[^<]+)</a>")  # PEP 503
EXTRAS: Final = ("web",)
HEAD: Final = "# Made by tools/lock.py from constraints.txt: what katachi needs to run, with its board in the browser."


def read_needed(root: Path = ROOT) -> dict[str, str]:
    """Pinned versions of all that is needed, by name."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    pins = read_pins((root / "constraints.txt").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for extra in EXTRAS:
        wanted += project["project"]["optional-dependencies"][extra]
    names = closure(Requirement(text) for text in wanted)
    return {name: version for name, version in sorted(pins.items()) if name in names}


def ask_pypi(name: str, version: str) -> list[str]:
    """The SHA-256 of every file of a version, by the index that pip uses."""
    with urlopen(f"https://pypi.org/simple/{name}/", timeout=60) as answer:
        return pick_hashes(answer.read().decode(), name, version)


def pick_hashes(page: str, name: str, version: str) -> list[str]:
    """Those of wheels (name-version-…) and of sources (name-version.tar.gz) of a version, unless it was withdrawn."""
    found = []
    for link in _LINK.finditer(page):
        stem = link["file"].strip().removesuffix(".tar.gz").removesuffix(".zip")
        is_of_it = normalize(stem[: len(name)]) == name and stem[len(name) :].split("-")[:2] == ["", version]
        if is_of_it and "data-yanked" not in link[0]:
            found.append(link["digest"])
    return sorted(found)


def format_lock(hashes: dict[tuple[str, str], list[str]]) -> str:
    """Requirements as pip reads them."""
    lines = [HEAD]
    for (name, version), digests in hashes.items():
        if not digests:
            raise SystemExit(f"{name} {version}: PyPI has no files of it")
        lines.append(" \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{digest}" for digest in digests)]))
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    hashes = {(name, version): ask_pypi(name, version) for name, version in read_needed().items()}
    file.write_text(format_lock(hashes), encoding="utf-8")
    print(f"{len(hashes)} packages, {sum(map(len, hashes.values()))} files: written to {file}")


if __name__ == "__main__":
    main()

"""Write what katachi is made of as a CycloneDX bill of materials: every version that ``constraints.txt`` pins.

    python tools/sbom.py build/sbom.json

What katachi itself needs is ``required``; what only extras bring is ``optional``. Licenses and what needs what are read
from the packages that are installed here; of others there are name and version alone. The same pins and packages give
the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[1]
_EXTRA: Final = re.compile(r'extra == "[^"]*"')
_PIN: Final = re.compile(r"([A-Za-z0-9._-]+)==(\S+)")


def normalize(name: str) -> str:
    """The name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> dict[str, str]:
    """Versions by name."""
    found = (_PIN.match(line) for line in text.splitlines())
    return {normalize(pin[1]): pin[2] for pin in found if pin}


def needs(name: str, extras: frozenset[str] = frozenset()) -> list[Requirement]:
    """What a package needs, with some of its extras, as far as it is installed; on other systems too."""
    try:
        requirements = [Requirement(text) for text in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:
        return []
    wanted = {f'extra == "{extra}"' for extra in extras}
    return [each for each in requirements if not (named := _EXTRA.findall(str(each.marker))) or wanted & set(named)]


def closure(requirements: Iterable[Requirement]) -> set[str]:
    """The names of some packages, and of all that these need."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        package = normalize(requirement.name), frozenset(requirement.extras)
        if package not in found:
            found.add(package)
            waiting += needs(*package)
    return {name for name, _ in found}


def describe(name: str, version: str, required: set[str]) -> dict[str, Any]:
    """A component."""
    url = f"pkg:pypi/{name}@{version}"
    scope = "required" if name in required else "optional"
    component: dict[str, Any] = {"type": "library", "bom-ref": url, "name": name, "version": version}
    component |= {"scope": scope, "purl": url}
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return component
    named = about.get("License-Expression") or about.get("License") or ""
    if named and len(named) < 100:  # not the whole text of one
        component["licenses"] = [{"license": {"name": named}}]
    return component


def make_sbom(project: dict[str, Any], pins: dict[str, str]) -> dict[str, Any]:
    """The bill of materials of a project, as its pyproject.toml describes it, with these pins."""
    direct = [Requirement(text) for text in project["dependencies"]]
    required = closure(direct)
    own = f"pkg:pypi/{project['name']}@{project['version']}"

    def references(needed: list[Requirement]) -> list[str]:
        names = {normalize(each.name) for each in needed}
        return sorted(f"pkg:pypi/{name}@{pins[name]}" for name in names if name in pins)

    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": [describe(name, version, required) for name, version in sorted(pins.items())],
        "dependencies": [
            {"ref": own, "dependsOn": references(direct)},
            *(
                {"ref": references([Requirement(name)])[0], "dependsOn": references(needs(name))}
                for name in sorted(pins)
            ),
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sbom = make_sbom(project, read_pins((ROOT / "constraints.txt").read_text(encoding="utf-8")))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(sbom, indent=2) + "\n", encoding="utf-8")
    print(f"{len(sbom['components'])} components: written to {file}")


if __name__ == "__main__":
    main()

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
from importlib import metadata
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
_PIN: Final = re.compile(r"([A-Za-z0-9._-]+)==(\S+)")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


def normalize(name: str) -> str:
    """The name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> dict[str, str]:
    """Versions by name."""
    found = (_PIN.match(line) for line in text.splitlines())
    return {normalize(pin[1]): pin[2] for pin in found if pin}


def needs(name: str) -> list[str]:
    """The packages that one needs without extras, as far as it is installed."""
    try:
        requirements = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    return [normalize(_NAME.match(text)[0]) for text in requirements if "extra ==" not in text]


def closure(names: list[str]) -> set[str]:
    """Some packages, and all that these need."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += needs(name)
    return found


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
    direct = [normalize(_NAME.match(text)[0]) for text in project["dependencies"]]
    required = closure(direct)
    own = f"pkg:pypi/{project['name']}@{project['version']}"

    def references(names: list[str]) -> list[str]:
        return sorted(f"pkg:pypi/{name}@{pins[name]}" for name in set(names) if name in pins)

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
            *({"ref": references([name])[0], "dependsOn": references(needs(name))} for name in sorted(pins)),
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

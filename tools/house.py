"""Measure the plan of the house: sizes of modules and folders, and who imports and inspects whom.

Run it in the repository: ``python tools/house.py`` prints a table, ``--json`` one object. tests/test_house.py holds
the numbers to what ARCHITECTURE.md promises.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SYSTEMS: Final = ("shapes", "policy", "territory", "crbm")
SHARED: Final = ("core", "analysis", "web", "cli")  # which name no system
APART: Final = ("papers", "bench")  # which may name anything, and repeat names
_KERNELS: Final = "kernels"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is counted, in the order of the table."""

    modules: int  # without those that only mark a package
    largest_folder: str
    files_in_largest_folder: int  # besides kernels
    lines: int
    median_lines: float
    header_share: float  # of all lines: before the first definition
    crossing_imports: int  # of something of a system, outside of its package
    system_to_system_imports: int
    shared_to_system_imports: int
    isinstance_on_kinds: int  # of a system, outside of its package
    kernel_patterns: int  # in pyproject.toml
    repeated_public_names: int  # defined in several modules, papers and bench aside
    architecture_bytes: int


class Module:
    """One file of the package, parsed."""

    def __init__(self, path: Path, source: Path) -> None:
        self.path = path
        self.parts = path.relative_to(source).with_suffix("").parts  # ("katachi", "go", "board")
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    @property
    def package(self) -> str:
        """The package below katachi that it is in, or its own name."""
        return self.parts[1]

    @property
    def name(self) -> str:
        """As it is imported."""
        parts = self.parts[:-1] if self.parts[-1] == "__init__" else self.parts
        return ".".join(parts)

    @property
    def is_marker(self) -> bool:
        """Whether it only marks a package: a docstring, and at most SYSTEM or WARMUP."""
        return self.parts[-1] == "__init__" and all(_is_marking(node) for node in self.tree.body)

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def header(self) -> int:
        """The lines before the first definition: docstring, imports and what is between them."""
        header = (ast.Import, ast.ImportFrom, ast.Expr, ast.If)
        first = next((node for node in self.tree.body if not isinstance(node, header)), None)
        return self.lines if first is None else first.lineno - 1

    @cached_property
    def imports(self) -> dict[str, str]:
        """The names that it imports from katachi, anywhere in it, and the modules that they are from."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "katachi":
                found |= {alias.asname or alias.name: node.module for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {a.asname or a.name: a.name for a in node.names if a.name.split(".")[0] == "katachi"}
        return found

    @property
    def imported_modules(self) -> set[str]:
        """The modules that it imports from, and those that it imports as a whole."""
        return set(self.imports.values())

    @property
    def public_names(self) -> set[str]:
        """Functions and classes that it defines and does not hide."""
        kinds = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
        return {node.name for node in self.tree.body if isinstance(node, kinds) and not node.name.startswith("_")}

    def isinstance_names(self) -> Iterator[str]:
        """The names of classes that are asked for by isinstance."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                yield from (name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name))


def _is_marking(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr | ast.Import | ast.ImportFrom):
        return True
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in ("SYSTEM", "WARMUP") for target in targets)


def read_modules(root: Path = ROOT) -> list[Module]:
    """All modules of the package, in the order of their names."""
    source = root / "src"
    return [Module(path, source) for path in sorted((source / "katachi").rglob("*.py"))]


def system_of(module: str) -> str | None:
    """The system that a module is of, by its name."""
    package = module.split(".")[1] if "." in module else ""
    return package if package in SYSTEMS else None


def crossing_imports(modules: list[Module]) -> list[tuple[str, str]]:
    """Imports of systems by other packages; papers, bench and the command line aside."""
    aside = (*APART, "cli", "__init__", "__main__")
    return [
        (module.name, imported)
        for module in modules
        if module.package not in aside
        for imported in sorted(module.imported_modules)
        if system_of(imported) and module.package not in SYSTEMS
    ]


def imports_between_systems(modules: list[Module]) -> list[tuple[str, str]]:
    """Imports of one system by another."""
    return [
        (module.name, imported)
        for module in modules
        if module.package in SYSTEMS
        for imported in sorted(module.imported_modules)
        if system_of(imported) not in (None, module.package)
    ]


def imports_by_shared(modules: list[Module]) -> list[tuple[str, str]]:
    """Imports of systems by those that must not name one."""
    shared = [module for module in modules if module.package in SHARED]
    return [(module.name, i) for module in shared for i in sorted(module.imported_modules) if system_of(i)]


def isinstance_on_kinds(modules: list[Module]) -> list[tuple[str, str]]:
    """Tests on classes of a system outside of its package, papers and bench aside."""
    return [
        (module.name, name)
        for module in modules
        if module.package not in APART
        for name in module.isinstance_names()
        if (system := system_of(module.imports.get(name, ""))) and system != module.package
    ]


def repeated_names(modules: list[Module]) -> dict[str, list[str]]:
    """Public names that several modules define; ``warmup`` and the like are meant to be.

    Papers and bench are left out, and kernels, which nobody but their own package sees.
    """
    meant = {"warmup", "draw", "measure"}
    homes: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        if module.package not in APART and _KERNELS not in module.parts:
            for name in module.public_names - meant:
                homes[name].append(module.name)
    return {name: found for name, found in sorted(homes.items()) if len(found) > 1}


def folders(modules: list[Module]) -> Counter[str]:
    """How many files each folder has, kernels and markers aside."""
    counted = (m for m in modules if _KERNELS not in m.parts and m.parts[-1] not in ("__init__", "__main__"))
    return Counter("/".join(module.parts[:-1]) for module in counted)


def kernel_patterns(root: Path = ROOT) -> list[str]:
    """The modules that pyproject.toml excuses from typed signatures, because they are compiled."""
    options = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    untyped = [each["module"] for each in options if each.get("disallow_untyped_defs") is False]
    return [name for names in untyped for name in ([names] if isinstance(names, str) else names)]


def measure(root: Path = ROOT) -> Numbers:
    """Count everything."""
    modules = read_modules(root)
    counted = [module for module in modules if module.parts[-1] != "__init__"]
    (largest, files), *_ = folders(modules).most_common(1)
    lines = sum(module.lines for module in modules)
    return Numbers(
        modules=len(counted),
        largest_folder=largest,
        files_in_largest_folder=files,
        lines=lines,
        median_lines=statistics.median(module.lines for module in counted),
        header_share=round(sum(module.header for module in modules) / lines, 3),
        crossing_imports=len(crossing_imports(modules)),
        system_to_system_imports=len(imports_between_systems(modules)),
        shared_to_system_imports=len(imports_by_shared(modules)),
        isinstance_on_kinds=len(isinstance_on_kinds(modules)),
        kernel_patterns=len(kernel_patterns(root)),
        repeated_public_names=len(repeated_names(modules)),
        architecture_bytes=(root / "ARCHITECTURE.md").stat().st_size,
    )


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--list", action="store_true", help="also name what is counted as a fault")
    options = parser.parse_args()
    numbers = asdict(measure())
    if options.json:
        print(json.dumps(numbers))
        return
    for name, value in numbers.items():
        print(f"{name.replace('_', ' '):28}{value if isinstance(value, str) else format(value, ','):>16}")
    if options.list:
        modules = read_modules()
        for find in (crossing_imports, imports_between_systems, imports_by_shared, isinstance_on_kinds):
            print(f"\n{find.__name__}:")
            print("\n".join(f"  {module} -> {what}" for module, what in find(modules)) or "  none")
        print("\nrepeated names:")
        print("\n".join(f"  {name}: {', '.join(homes)}" for name, homes in repeated_names(modules).items()))


if __name__ == "__main__":
    main()

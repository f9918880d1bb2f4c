"""C++ twins: the same algorithms compiled with ``g++ -O3 -march=native``, beside which our kernels are measured."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

_OPTIONS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c++17", "-shared", "-fPIC")


class BenchmarkError(RuntimeError):
    """A benchmark whose numbers would not mean what they say."""


def load_twin(name: str, folder: Path, notes: list[str]) -> ctypes.CDLL | None:
    """Compile ``benchmarks/NAME.cpp`` into a folder and load it, or note why not. Its calls let go of the GIL."""
    source = find_source(name)
    compiler = shutil.which("g++")
    if source is None or compiler is None:
        why = "its source is in the repository alone" if source is None else "there is no g++"
        notes.append(f"cpp is left out: {why}")
        return None
    library = folder / f"{name}.so"
    subprocess.run([compiler, *_OPTIONS, "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library))


def find_source(name: str) -> Path | None:
    """The source of a twin, if katachi runs from its repository or inside it."""
    places = (Path.cwd(), *Path.cwd().parents, *Path(__file__).parents)
    sources = (place / "benchmarks" / f"{name}.cpp" for place in places)
    return next((source for source in sources if source.is_file()), None)

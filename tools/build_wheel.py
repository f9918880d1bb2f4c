"""Build a wheel that carries compiled kernels, so that its users need not compile (``make wheel``).

The kernels are compiled for x86-64-v3, which every processor since about 2015 has, with the numba and the Python that
run this. Only the forms that Python calls are kept: what kernels call is part of them. The wheel is tagged for this
Python and platform; where its kernels do not fit, katachi says so in one line and compiles its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from numba.core.caching import IndexDataCacheFile

from katachi.go.compiling import BASELINE, write_manifest

ROOT = Path(__file__).parents[1]
SOURCES = ("src", "pyproject.toml", "README.md", "LICENSE")


def compile_kernels(project: Path) -> Path:
    """Compile all kernels of a project into itself; returns the folder."""
    folder = project / "src" / "katachi" / "compiled"
    environment = os.environ | {
        "PYTHONPATH": str(project / "src"),
        "NUMBA_CACHE_DIR": str(folder),
        "NUMBA_CPU_NAME": BASELINE,
        "NUMBA_CPU_FEATURES": "",
    }
    subprocess.run([sys.executable, "-m", "katachi", "warmup"], env=environment, check=True)
    return folder


def drop_inner_forms(folder: Path) -> None:
    """Leave only what Python calls of each kernel."""
    for index in folder.glob("*/*.nbi"):
        digest = index.parent.name.rpartition("-")[2]
        file = IndexDataCacheFile(str(index.parent), index.stem, digest)
        forms = file._load_index()
        outer = {key: name for key, name in forms.items() if key[1]}
        for name in set(forms.values()) - set(outer.values()):
            (index.parent / name).unlink()
        if outer:
            file._save_index(outer)
        else:
            index.unlink()


def build(project: Path, out: Path) -> Path:
    """Build the wheel of a project, for this Python and platform alone."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tags = f"--build-option=--python-tag={python} --plat-name={sysconfig.get_platform()}"
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([*pip, "--config-settings", tags, "--wheel-dir", place, str(project)], check=True)
        (built,) = Path(place).glob("*.whl")
        out.mkdir(exist_ok=True)
        return Path(shutil.move(built, out / built.name))


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        project = Path(place)
        for name in SOURCES:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, project / name)
        folder = compile_kernels(project)
        drop_inner_forms(folder)
        write_manifest(folder)
        wheel = build(project, ROOT / "dist")
    print(f"{wheel.relative_to(ROOT)} ({wheel.stat().st_size / 1e6:.0f} MB) needs no compiling")


if __name__ == "__main__":
    main()

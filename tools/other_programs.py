"""Install the programs of other people that tests need: those that drive katachi, and what examines its pages.

    python tools/other_programs.py [build/other-programs]

KaTrain comes from PyPI, what Sabaki is made of and axe-core from npm, at the versions and with the hashes that
tests/gtp/other_programs pins. Nothing of it is run or installed for katachi itself. Of KaTrain, 106 MB, the engine and
the game stay, without KataGo, its networks and the windows. What cannot be had is reported, and its tests are skipped.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

ROOT: Final = Path(__file__).parents[1]
PINS: Final = ROOT / "tests" / "gtp" / "other_programs"
FOLDER: Final = ROOT / "build" / "other-programs"
KEPT: Final = (  # of the wheels
    *("katrain/core/*.py", "katrain/gui/theme.py", "katrain/__init__.py", "katrain/*/__init__.py"),
    *("katrain/config.json", "katrain/i18n/locales/en/*", "pysgf/*", "chardet/*", "*.dist-info/*"),
)


def install_katrain(folder: Path) -> None:
    """KaTrain's engine and game, and its SGF parser, as a folder to import from."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    with TemporaryDirectory() as wheels:
        pip = [sys.executable, "-m", "pip", "download", *options, "--ignore-requires-python", "--dest", wheels]
        run([*pip, "--requirement", str(PINS / "requirements.txt")])
        for wheel in sorted(Path(wheels).glob("*.whl")):
            extract(wheel, folder)


def extract(wheel: Path, folder: Path) -> None:
    """What is kept of a wheel."""
    with ZipFile(wheel) as archive:
        names = (name for name in archive.namelist() if any(fnmatch(name, kept) for kept in KEPT))
        archive.extractall(folder, names)


def install_packages(folder: Path) -> None:
    """Sabaki's packages for GTP and SGF, and axe-core, below node_modules."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise OSError("npm and node are not installed")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINS / name, folder / name)
    run([npm, "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)])


PROGRAMS: Final[dict[str, tuple[Callable[[Path], None], tuple[str, ...]]]] = {  # how to install it, from which pins
    "katrain": (install_katrain, ("requirements.txt",)),
    "node": (install_packages, ("package.json", "package-lock.json")),
}


def run(command: list[str]) -> None:
    """Run a program; what it says about its failure becomes the error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise OSError(said[-1] if said else f"{command[0]} failed")


def install(name: str, target: Path) -> bool:
    """Install a program, unless it is there at the versions that are pinned. Whether it had to be."""
    make, files = PROGRAMS[name]
    pins = "".join((PINS / file).read_text(encoding="utf-8") for file in files)
    stamp = target / name / "installed.txt"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == pins:
        return False
    shutil.rmtree(target / name, ignore_errors=True)
    (target / name).mkdir(parents=True)
    make(target / name)
    stamp.write_text(pins, encoding="utf-8")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    folder = parser.parse_args().folder
    for name in PROGRAMS:
        try:
            if install(name, folder):
                print(f"{name}: installed in {folder / name}, for some tests")
        except OSError as error:
            print(f"{name}: tests that need it are skipped: {error}")


if __name__ == "__main__":
    main()

"""What the first run compiles, and whether that has happened.

numba keeps what it compiled (``.nbi``, ``.nbc``) for every kernel, and compiles again when the kernel's own file has
changed. It does not see that a function inlined from another file has changed; so here all of it is stale, and
forgotten, as soon as one source of kernels is younger.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Final

KERNEL_PACKAGES: Final = tuple(
    f"katachi.{name}.kernels"
    for name in ("go", "features", "search", "data", "shapes", "policy", "territory", "crbm", "players")
)
MINUTES_TO_COMPILE: Final = 4  # all of it, measured on one core of a small server; most commands need a part


def kernel_modules() -> list[ModuleType]:
    """All modules of compiled functions, the one that every command needs first."""
    folders = {package: import_module(package).__path__ for package in KERNEL_PACKAGES}
    return [
        import_module(f"{package}.{module.name}") for package, path in folders.items() for module in iter_modules(path)
    ]


def kernels() -> Iterator[Any]:
    """All compiled functions that are kept on disk."""
    for module in kernel_modules():
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__ and hasattr(value, "py_func"):
                yield value


def cache_folder() -> Path:
    """Where numba keeps what every command needs."""
    return Path(next(kernels()).stats.cache_path)


def forget_stale_kernels() -> None:
    """Delete compiled kernels that are older than any source of kernels."""
    newest = max(Path(str(module.__file__)).stat().st_mtime for module in kernel_modules())
    for folder in {Path(kernel.stats.cache_path) for kernel in kernels()}:
        for compiled in folder.glob("*.nb?"):
            if compiled.stat().st_mtime < newest:
                compiled.unlink(missing_ok=True)


def is_compiled() -> bool:
    """Whether the module that every command needs has been compiled here since it was written."""
    source = Path(str(kernel_modules()[0].__file__))
    indexes = cache_folder().glob(f"{source.stem}.*.nbi")
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in indexes)


def prepare_kernels() -> None:
    """Forget what is stale, and say on standard error if this run takes longer because it compiles."""
    forget_stale_kernels()
    if not is_compiled():
        print(f"katachi: compiling kernels, once: up to {MINUTES_TO_COMPILE} min", file=sys.stderr, flush=True)  # noqa: T201

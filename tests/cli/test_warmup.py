from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import katachi
from katachi.go.compiling import Kernel, cache_folder


def all_kernels() -> list[Kernel]:
    root = Path(katachi.__file__).parent
    names = [
        ".".join(("katachi", *path.relative_to(root).with_suffix("").parts)) for path in root.glob("*/kernels/*.py")
    ]
    bench = "katachi.bench."  # compiled by those who measure
    modules = [import_module(name) for name in names if not name.endswith("__init__") and not name.startswith(bench)]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, Kernel)]
    return list(dict.fromkeys(values))


@pytest.mark.timeout(900)  # in a fresh clone it compiles everything
def test_everything_is_compiled_afterwards(run_katachi):
    """Every kernel has been called, or is part of one that has: some form of it is on disk."""
    ran = run_katachi("warmup")
    assert ran.code == 0
    assert "katachi: compiled tree search\n" in ran.err
    assert str(cache_folder()) in ran.out
    kernels = all_kernels()
    assert len(kernels) > 300
    assert [kernel.title for kernel in kernels if not kernel.is_kept] == []

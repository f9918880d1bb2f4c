from __future__ import annotations

from pathlib import Path

import pytest

from katachi.cli import _commands


@pytest.mark.timeout(900)  # in a fresh clone it compiles everything
def test_everything_is_compiled_afterwards(run_katachi):
    """Every kernel has been called, or is part of one that has: numba has an index of it on disk."""
    ran = run_katachi("warmup")
    assert ran.code == 0
    assert "katachi: compiling tree search\n" in ran.err
    assert str(_commands.cache_folder()) in ran.out
    missing = [
        f"{kernel.__module__}.{kernel.__name__}"
        for kernel in _commands.kernels()
        if not list(Path(kernel.stats.cache_path).glob(f"{kernel.__module__.split('.')[-1]}.*{kernel.__name__}-*.nbi"))
    ]
    assert missing == []
    assert _commands.is_compiled()

"""The compiled game, and the decorator that makes kernels, here and in every ``kernels`` folder.

All compiled code of katachi lies in folders of this name. The function that calls a kernel validates; the kernel trusts
its arguments.
"""

from __future__ import annotations

from typing import Any

from numba import njit


def kernel(*signature: Any, **options: Any) -> Any:
    """Compile a function with numba: kept on disk, and without the global interpreter lock.

    ``@kernel`` compiles when it is first called. ``@kernel(signature, fastmath=True)`` takes a signature, which
    compiles at once, and other options of numba.
    """
    compiled: Any = njit
    return compiled(*signature, cache=True, nogil=True, **options)

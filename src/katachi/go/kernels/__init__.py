"""The compiled game. All compiled code of katachi lies in folders of this name.

The function that calls a kernel validates; the kernel trusts its arguments. How kernels are compiled and kept is in
``go/compiling.py``.
"""

from __future__ import annotations

from katachi.go.compiling import kernel as kernel

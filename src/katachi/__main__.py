"""``python -m katachi`` is ``katachi``."""

from __future__ import annotations

from katachi.cli import main

main()

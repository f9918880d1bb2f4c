from __future__ import annotations

import subprocess
import sys

import pytest

import katachi.gtp


def test_public_names():
    assert {name: getattr(katachi.gtp, name).__name__ for name in katachi.gtp.__all__} == {
        name: name for name in ("EngineFailure", "GtpEngine", "GtpError", "GtpPlayer")
    }
    with pytest.raises(AttributeError, match="no attribute 'GtpServer'"):
        _ = katachi.gtp.GtpServer


def test_the_package_itself_loads_nothing_heavy():
    program = "import sys, katachi.gtp.protocol, katachi.gtp.serving; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

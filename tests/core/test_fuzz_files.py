"""The fuzzing of `make fuzz` in short, and without a fuzzer: any bytes are a result or the reader's own error."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from katachi.core.models import ModelError, find_model

FUZZER = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "fuzz_files.py"))


@pytest.mark.parametrize("name", ["json", "card", "safetensors", "onnx", "toml"])
def test_any_bytes(name: str) -> None:
    FUZZER["fuzz_plainly"](FUZZER["targets"]()[name], 300)


def test_the_fuzzer_finds_what_is_wrong() -> None:
    def stumble(data: bytes) -> None:
        assert b"NaN" not in data

    with pytest.raises(AssertionError):
        FUZZER["fuzz_plainly"](FUZZER["Target"](stumble, [b"12345"]), 300)


@pytest.mark.parametrize("name", ["{" * 300, "a/" * 5000])
def test_no_model_has_a_name_that_no_file_can_have(name: str) -> None:
    with pytest.raises(ModelError, match="File name too long"):
        find_model(name)

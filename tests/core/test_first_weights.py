from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel

from katachi.core.cards import ModelError
from katachi.core.models import find_model
from katachi.core.training import MetricLine, TrainingError, TrainingRun, load_first_weights, name_weights, weights_of

WEIGHTS = {"layers.0": np.arange(4, dtype=np.float32), "output": np.ones((2, 2), dtype=np.float32)}


class Settings(BaseModel):
    step_size: float = 0.1


def of_model(path: Path) -> dict[str, np.ndarray]:
    return {str(path): WEIGHTS["output"]}


def test_a_state_holds_weights_among_other_things():
    state = name_weights(WEIGHTS) | {"step": np.array([3])}
    found = weights_of(state)
    assert found.keys() == WEIGHTS.keys()
    assert all(found[name] is WEIGHTS[name] for name in WEIGHTS)


def test_one_begins_with_those_of_a_run_or_a_model_or_none(tmp_path):
    assert load_first_weights(None, of_model) is None
    with TrainingRun(tmp_path / "run", Settings()) as run:
        run.keep(name_weights(WEIGHTS) | {"step": np.array([3])}, MetricLine({}))
    found = load_first_weights(str(tmp_path / "run"), of_model)
    assert found.keys() == WEIGHTS.keys()
    assert all((found[name] == WEIGHTS[name]).all() for name in WEIGHTS)
    assert list(load_first_weights("shapes-5", of_model)) == [str(find_model("shapes-5"))]


def test_what_has_no_weights_is_refused(tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"nothing")
    with pytest.raises(TrainingError, match="no weights to start from"):
        load_first_weights(str(tmp_path), of_model)
    with pytest.raises(ModelError):
        load_first_weights(str(tmp_path / "nothing"), of_model)

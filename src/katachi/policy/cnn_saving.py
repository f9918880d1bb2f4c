"""What becomes of a trained network: ONNX files in floats and in eight bits, a card, and a player that uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from katachi.core.cards import Metric
from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.core.models import save_cnn
from katachi.core.statistics import wilson_interval
from katachi.core.training import MetricLine, TrainingError
from katachi.data.batches import AnyBatches, Batch, tell_training
from katachi.policy.evaluator import OnnxNetwork
from katachi.policy.export import export_onnx, quantize_onnx
from katachi.policy.network import Prediction
from katachi.policy.supervised import TOP, Learner
from katachi.sgf.splits import Split

_CHECKED: Final = 32  # positions
_CALIBRATING: Final = 256
_TOLERANCE: Final = 1e-3  # of logits: two ways to sum floats


def save_trained(path: Path, learner: Learner, batches: AnyBatches, last: MetricLine, command: str) -> None:
    """Save a network as a model, and beside it ``player.toml``, which plays by it without search.

    Raises TrainingError if the exported network does not say what the learner says.
    """
    settings = learner.settings
    onnx = export_onnx(settings.config, learner.net.arrays())
    real = batches.positions(Split.TRAINING, _CALIBRATING)
    _check(learner, onnx, real.only(slice(_CHECKED)))
    int8 = quantize_onnx(onnx, real.planes, real.ranks.astype(np.int64))
    training = tell_training(settings, batches.dataset, batches.games, learner.positions, last, command)
    save_cnn(path, settings.config, onnx, int8, learner.net.arrays(), training, _metrics(last), replace=True)
    model = json.dumps(str(path.resolve()))
    spec = f'kind = "search"\nname = "cnn"\n[evaluator]\nmodel = {model}\n[search]\nkind = "policy"\n'
    write_atomically(path.with_name("player.toml"), spec)


def _check(learner: Learner, onnx: bytes, batch: Batch) -> None:
    ranks = batch.ranks.astype(np.int64)
    with torch.no_grad():
        wanted = _heads(learner.net.predict(torch.from_numpy(batch.planes), torch.from_numpy(ranks)))
    inputs: dict[str, Any] = {"planes": batch.planes} | ({"rank": ranks} if learner.settings.rank_embedding else {})
    for (head, said), found in zip(wanted.items(), OnnxNetwork(onnx).run(inputs, list(wanted)), strict=True):
        error = float(np.abs(found - said).max())
        if not error <= _TOLERANCE * max(1.0, float(np.abs(said).max())):
            raise TrainingError(f"the exported network differs from the trained one by {error:.2g} in its {head}")


def _heads(prediction: Prediction) -> dict[str, Floats]:
    """What a network says under the names and in the units of its ONNX file."""
    owners = None if prediction.ownership is None else torch.tanh(prediction.ownership / 2)
    said = {"policy": prediction.policy, "value": prediction.value, "ownership": owners}
    return {head: tensor.numpy() for head, tensor in said.items() if tensor is not None}


def _metrics(last: MetricLine) -> dict[str, Metric]:
    """What the last evaluation found on held-out positions, with 95 % intervals."""
    count = last.values["validation_positions"]
    metrics = {"validation loss": Metric(value=last.values["validation_loss"], positions=count)}
    shares = {f"validation top-{top}": last.values[f"validation_top_{top}"] for top in TOP}
    if "validation_value_hits" in last.values:
        shares["validation winners known"] = last.values["validation_value_hits"]
    for name, share in shares.items():
        low, high = wilson_interval(share * count, count)
        metrics[name] = Metric(value=share, low=low, high=high, positions=count)
    if "validation_ownership_hits" in last.values:  # no interval: the points of a board are not independent
        metrics["validation owners known"] = Metric(value=last.values["validation_ownership_hits"], positions=count)
    return metrics

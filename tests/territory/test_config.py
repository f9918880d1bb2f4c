from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from katachi.territory.network import DagRnnConfig


@pytest.mark.parametrize("d", [65, 69, 72])
@pytest.mark.parametrize(("borders", "constant"), [("reduced", 1385), ("full", 1769)])
def test_the_papers_network_has_as_many_parameters_as_it_must(d: int, borders: Any, constant: int) -> None:
    assert DagRnnConfig(borders=borders).parameter_count(d) == 64 * d + constant


def test_what_a_second_sweep_and_policies_add() -> None:
    one, two = (DagRnnConfig(sweeps=sweeps).parameter_count(69) for sweeps in (1, 2))
    lateral = 3 * (69 * 16 + 16 + 16 * 8 + 8) + 3 * 8 * 16  # interior, side and corner
    assert two - one == lateral + 3 * 32 * 16 + 32 * 16  # which see the first sweep, as does the output network
    assert DagRnnConfig(policy=True).parameter_count(69) - one == 2 * 17


@pytest.mark.parametrize("change", [{"hidden": 20}, {"channels": 0}, {"cell": "tanh"}, {"sweeps": 9}, {"size": 9}])
def test_what_there_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DagRnnConfig(**change)

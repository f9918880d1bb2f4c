from __future__ import annotations

import pytest
from pydantic import ValidationError

from katachi.policy.config import PolicyConfig


@pytest.mark.parametrize(
    ("layers", "filters", "parameters"),
    [
        (3, 16, 37_346),
        (3, 64, 202_514),
        (3, 128, 551_762),
        (6, 128, 1_132_754),
        (6, 192, 2_251_730),
        (10, 128, 1_907_410),
        (12, 128, 2_294_738),
    ],
)
def test_the_papers_networks_have_as_many_parameters_as_published(layers: int, filters: int, parameters: int) -> None:
    assert PolicyConfig.maddison(layers, filters).parameter_count() == parameters


def test_connections_and_units_of_the_largest_network() -> None:
    config = PolicyConfig.maddison(12, 128)
    assert config.connection_count() == 627_966_720
    assert config.unit_count() == 554_496
    assert PolicyConfig.maddison(12, 128, output_kernel=1).parameter_count() == 2_292_690


def test_a_residual_network_by_hand() -> None:
    config = PolicyConfig(planes="maddison-9", size=5, layers=3, filters=8, value=True)
    first = 8 * 9 * 9 + 8 * 25 + 2 * 8  # filters, a bias for every point, gain and shift
    block = 2 * (8 * 8 * 9 + 2 * 8)
    heads = (8 + 25) + (32 * 8 + 32 + 32 + 1)
    assert config.parameter_count() == first + 10 * 8 + block + heads
    assert config.connection_count() == 25 * (8 * 9 * 9 + 2 * 8 * 8 * 9 + 8)


def test_a_network_for_any_size_has_no_maps() -> None:
    config = PolicyConfig(size=None, position_bias=False)
    assert all(len(shape) in (1, 2, 4) for shape in config.weight_shapes().values())
    with pytest.raises(ValueError, match="no number of units"):
        config.unit_count()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"layers": 4}, "odd"),
        ({"size": None}, "no position_bias"),
        ({"filters": 12}, "multiple of 8"),
        ({"planes": "movers"}, "there are no planes movers"),
        ({"layer": 3}, "Extra inputs"),
    ],
)
def test_what_does_not_fit_is_refused(values: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        PolicyConfig.model_validate(values)

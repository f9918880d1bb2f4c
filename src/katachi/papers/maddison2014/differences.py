"""How learning differs from the paper's, whatever is measured."""

from __future__ import annotations

from typing import Final

from katachi.papers.experiment import Json

PUBLISHED_POSITIONS: Final = 27_400_000  # to learn from
PUBLISHED_TEST_POSITIONS: Final = 2_000_000


def differences(data: Json) -> tuple[str, ...]:
    """Numbered in every section."""
    return (
        f"The paper learned from {PUBLISHED_POSITIONS / 1e6:g} million positions of 160,000 KGS games and tested with "
        f"{PUBLISHED_TEST_POSITIONS / 1e6:g} million. Our set, `{data['name']}`, is another and has "
        f"{data['positions'] / 1e6:.3g} million.",
        "Every network of the paper saw all positions 25 times, then three times at half, a quarter and an eighth of "
        "the rate. Ours see as many positions as the table says, with the halvings in the same proportion.",
        "The paper's fifty replicas learned asynchronously. Here one process learns from one batch after another, so "
        "that the same run on one thread gives the same network.",
        "The bins of some planes, which the paper does not give, are our reading. Ranks below 1 dan count as 1 dan, "
        "professionals as 9 dan, and unknown ranks have no plane.",
        "Illegal points have no part in our tests, as they have none in play; the paper does not say.",
    )

"""Random chains of products have the same bits fused, unfused, on any threads, with any
instructions (`random_chains`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import random_chains
from tests.properties.chance import examples

from fusewright.plan.chains import Segment


@pytest.fixture(scope="module", name="ran")
def _ran() -> Iterator[list[Segment]]:
    with random_chains.small_ones() as ran:
        yield ran


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fused_is_unfused(ran: list[Segment]) -> None:
    @given(st.integers(0, 1 << 40))
    @examples(60)
    def property_(seed: int) -> None:
        told = random_chains.difference(seed)
        assert not told, told

    property_()
    assert len(ran) > 100, "the programs are hardly ever fused"
    assert max(len(segment.products) for segment in ran) >= 4
    assert any(segment.region.batch for segment in ran)

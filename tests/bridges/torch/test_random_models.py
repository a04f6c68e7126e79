"""Random small modules, forward and backward, against eager in double precision; more of them by
the command in `random_modules`.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
if True:  # torch is there
    from tests.bridges.torch import random_modules

    from fusewright.bridges.torch.report import graphs


@pytest.mark.parametrize("seed", range(24))
def test_a_random_module(seed: int) -> None:
    graphs.clear()
    told = random_modules.difference(seed)
    assert not told
    assert graphs


def test_most_operations_are_ours() -> None:
    """Of a few modules, so that the others test something."""
    graphs.clear()
    for seed in range(40, 44):
        assert not random_modules.difference(seed)
    assert sum(graph.ours for graph in graphs) > 40

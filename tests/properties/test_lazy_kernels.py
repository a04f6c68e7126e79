"""Any sequence of kernel calls, array statements, writes, fills and reads gives the bits that
CPython and NumPy give, fused or not, on every target.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.properties.chance import examples
from tests.properties.lazy_kernels import VECTORS, program, run

from fusewright.kernels import statements

CASES = examples(30)
SETTINGS: tuple[dict[str, object], ...] = (
    {},
    {"fuse": False},
    {"target": "reference"},
    {"check": True},
)


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Programs choose their target themselves."""
    with installed("driver"):
        yield


@pytest.fixture(params=[0, 1, 1 << 60], ids=["apart", "at once", "often"], scope="module")
def joining(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whether statements on small arrays join calls: never, as they come, when they come often."""
    statements.set_least(1 if request.param else 1 << 60, request.param)
    yield
    statements.set_least()


@CASES
@given(st.integers(0, 1 << 40))
def test_sequences(joining: None, seed: int) -> None:
    steps = program(random.Random(seed).randint, 12)
    wanted = run(steps, "plain", {})
    for options in SETTINGS:
        assert run(steps, "lazy", options) == wanted, options
    assert run(steps, "blocks", {}) == wanted


@pytest.mark.parametrize("seed", range(8))
def test_long_sequences(joining: None, seed: int) -> None:
    steps = program(random.Random(seed).randint, 150)
    assert run(steps, "lazy", {}) == run(steps, "plain", {})


def test_programs_do_both() -> None:
    for seed in range(8):
        run(program(random.Random(seed).randint, 150), "lazy", {})
    assert sum(kernel.stats.raised for kernel in VECTORS) > 50
    assert sum(kernel.stats.deferred for kernel in VECTORS) > 5

"""A loop in a function that is called again and again is known when it comes back, whether what it
computes has been compiled or runs operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.entered import frames

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="without the core everything is Python's")
SIZE, NODES, CALLS = 2000, 12, 40
MOST = 150
"""Functions of Python's that a call may enter, beside its own: those of the values asked for, which
Python computes until their code is there; a loop that is looked for anew enters 470 or more."""


def basis(xp: Any, x: Any, nodes: Any, k: int) -> Any:
    product = xp.ones_like(x)
    for j in range(len(nodes)):
        if j != k:
            product *= (x - nodes[j]) / (nodes[k] - nodes[j])
    return product


def constant(xp: Any, x: Any, nodes: Any) -> float:
    """Lagrange's: the loop around calls of a function with a loop."""
    total = xp.zeros(SIZE)
    for k in range(len(nodes)):
        total += xp.abs(basis(xp, x, nodes, k))
    return float(total.max())


def relaxed(xp: Any, x: Any, nodes: Any) -> float:
    """Many small steps, then two values."""
    u = x
    for step in range(120):
        u = u + 0.01 * (nodes[step % NODES] - u) * x
    return float(u.sum()) + float(u.max())


PROGRAMS: dict[str, Callable[[Any, Any, Any], float]] = {"nested": constant, "flat": relaxed}


@pytest.mark.parametrize("interpret", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_called_again(name: str, interpret: bool) -> None:
    program = PROGRAMS[name]
    plain = np.linspace(-1.0, 1.0, SIZE)
    numbers = np.random.default_rng(1).uniform(-1.0, 1.0, (2 * CALLS, NODES))
    with fw.options(interpret=interpret, small=512):
        x = fw.asarray(plain)
        for row in numbers[:CALLS]:
            np.testing.assert_allclose(program(fnp, x, row), program(np, plain, row), rtol=1e-12)
        if not interpret:
            fw.sync()
        entered = [len(frames(lambda row=row: program(fnp, x, row))[0]) for row in numbers[CALLS:]]
    own = len(frames(lambda: program(np, plain, numbers[0]))[0])
    assert min(entered) - own <= MOST, sorted(entered)

"""Row writes while somebody listens: the report tells of the run that the user has, not of copies
of whole arrays that listening caused.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.evaluators import begin

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime.profile import listen

STEPS: tuple[Callable[[Any, Any, Any], Any], ...] = (
    lambda xp, s, a: s + 0.01 * xp.sin(s),
    lambda xp, s, a: s * 0.5,
    lambda xp, s, a: s - 0.1 * (s * s),
    lambda xp, s, a: s + a[0],
)


def states(xp: Any, seed: int) -> Any:
    draw = random.Random(seed)
    rows, width, step = draw.randint(20, 120), draw.choice((600, 1000, 3000)), draw.choice(STEPS)
    a = xp.zeros((rows + 1, width))
    a[0] = xp.linspace(0.1, 1.0, width)
    for i in range(rows):
        s = a[i]
        a[i + 1] = step(xp, s, a)
    return a


@pytest.mark.parametrize("seed", range(12))
def test_bytes_are_the_rows(seed: int) -> None:
    with fw.options(interpret=True):
        begin()
    with listen() as profile, fw.options(spans=True, interpret=True):
        told = states(fnp, seed)
        told.sum().item()
    moved = sum(kernel.bytes_read + kernel.bytes_written for kernel in profile.kernels)
    plain = states(np, seed)
    np.testing.assert_allclose(np.asarray(told), plain, rtol=1e-14)
    # Each row is read, computed and written; with versions of the array it is rows times this.
    assert moved <= 6 * plain.nbytes

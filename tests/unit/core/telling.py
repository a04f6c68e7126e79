"""Row writes while somebody listens: the report tells of the run that the user has, not of copies
of whole arrays that listening caused.

Run as a module, `python -m tests.unit.core.telling COUNT`, for in a process where two threads have
looked at views the core forgets none of them, and copies.
"""

import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
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


def moved_and_size(seed: int) -> tuple[int, int]:
    """The bytes that a run is told to move, and those of its array."""
    with listen() as profile, fw.options(spans=True):
        told = states(fnp, seed)
        told.sum().item()
    plain = states(np, seed)
    np.testing.assert_allclose(np.asarray(told), plain, rtol=1e-14)
    return sum(each.bytes_read + each.bytes_written for each in profile.kernels), plain.nbytes


if __name__ == "__main__":
    begin()
    for number in range(int(sys.argv[1])):
        print(*moved_and_size(number))

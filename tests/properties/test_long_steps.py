"""Steps that change a whole array and then a few of its elements, many of them in one flush: the
values of each step are parameters of one kernel.
"""

from typing import Any

import numpy as np
import pytest

import fusewright as fw

PARTS = {
    "first": slice(0, 1), "first two": slice(0, 2), "two": slice(1, 3), "one": slice(2, 3),
    "last two": slice(-2, None), "last": slice(-1, None),
}  # fmt: skip


def steps(a: Any, count: int, part: slice) -> Any:
    for k in range(count):
        a = a * 0.5 + float(k + 8)
        a[part] = a[part] + 1.0
    return a


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("size", [3, 5, 40])
def test_any_number_of_steps_is_numpys(size: int, part: slice) -> None:
    """Nine steps on five elements ended with an error where thin loops had no vectors."""
    start = np.arange(float(size))
    with fw.options(interpret=False, small=0, background=False):
        for count in (1, 2, 5, 8, 9, 10, 13):
            found = np.asarray(steps(fw.asarray(start), count, part))
            assert found.tobytes() == steps(start.copy(), count, part).tobytes()

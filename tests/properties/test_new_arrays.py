"""What makes a new array never hands out memory of the user's, however often it has been called:
what a function records is learnt, and made again without it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

NEW: dict[str, Callable[[Any], Any]] = {
    "tile": lambda a: fnp.tile(a, (1, 1)),
    "repeat": lambda a: fnp.repeat(a, 1, 0),
    "roll": lambda a: fnp.roll(a, 0, 0),
    "concatenate": lambda a: fnp.concatenate([a]),
    "stack": lambda a: fnp.stack([a]),
    "pad": lambda a: fnp.pad(a, 0),
    "where": lambda a: fnp.where(True, a, a),
    "clip": lambda a: fnp.clip(a, None, 10**9),
    "flatten": lambda a: a.flatten(),
    "flatten F": lambda a: a.flatten("F"),
    "flattened part": lambda a: a[1:].flatten(),
    "resize": lambda a: fnp.resize(a, (3, a.shape[1])),
    "take": lambda a: fnp.take(a, [0, 1, 2], 0),
    "append": lambda a: fnp.append(a, a[:0], 0),
    "delete": lambda a: fnp.delete(a, [], 0),
    "insert": lambda a: fnp.insert(a, 0, a[:1], 0),
    "block": lambda a: fnp.block([[a]]),
    "flip": lambda a: fnp.flip(a, 0).copy(),
    "triu": lambda a: fnp.triu(a, -(10**6)),
    "nan_to_num": fnp.nan_to_num,
    "around": fnp.around,
    "array": lambda a: fnp.array(a, order="F"),
    "astype": lambda a: a.astype(a.dtype),
    "copy": lambda a: a[1:].copy(),
    "positive": lambda a: +a,
}


@pytest.mark.parametrize("interpret", [True, False])
@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("count", [12, 9000])
@pytest.mark.parametrize("name", NEW)
def test_users_memory_stays_his(name: str, count: int, small: int, interpret: bool) -> None:
    with fw.options(small=small, interpret=interpret):
        for _ in range(5):
            mine = np.arange(count, dtype=np.int32).reshape(3, -1)
            made = NEW[name](fw.asarray(mine))
            made[...] = -5
            assert np.array_equal(mine.ravel(), np.arange(count))

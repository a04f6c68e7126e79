"""Random programs of pads, joins, differences and reductions over any dims: values of several
lengths run in one kernel, and give the bits they give apart.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

EXTENTS = (1, 2, 3, 4, 5, 7, 9, 16, 33, 70)
MOST = 30_000


def step(np: Any, chance: random.Random, value: Any, first: Any) -> Any:
    """A value made of another."""
    kind = chance.randrange(10)
    rank = value.ndim
    if kind == 0 or not rank:
        return value * 2.0 + 1.0
    if kind == 1:
        return value + first if value.shape == first.shape else value * 0.5
    if kind == 2:
        return np.sum(value, axis=chance.randrange(rank), keepdims=chance.random() < 0.5)
    if kind == 3:
        count = chance.randrange(1, rank + 1)
        return np.max(value, axis=tuple(sorted(chance.sample(range(rank), count))))
    if kind == 4:
        return np.sum(value, axis=tuple(range(chance.randrange(rank), rank)))
    if kind == 5 and value.shape[0] > 2:
        return value[1:] - value[:-1]
    if kind == 6 and value.shape[-1] > 2:
        return value[..., 1:] * 3.0
    if kind == 7:
        return np.concatenate([value, value[:2] * 2.0])
    if kind == 8:
        return np.pad(value, [(1, 2)] + [(0, 0)] * (rank - 1))
    return value - np.sum(value, axis=-1, keepdims=True)


def program(np: Any, seed: float, x: Any) -> list[Any]:
    """The values of a random program."""
    chance = random.Random(seed)
    values = [x]
    for _ in range(chance.randrange(3, 8)):
        values.append(step(np, chance, chance.choice(values), x))
    return values[1:]


@pytest.mark.parametrize("seed", range(16))
def test_fused_is_apart(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        shape = [chance.choice(EXTENTS) for _ in range(chance.randrange(1, 5))]
        if np.prod(shape) > MOST:
            continue
        data = np.round(np.random.default_rng(seed).random(shape) * 8.0, 2)
        number = chance.random()
        found = []
        for fuse, threads in ((True, 2), (True, 1), (False, 1)):
            with fw.options(small=0, interpret=False, fuse=fuse, threads=threads):
                values = program(fnp, number, fw.asarray(data))
                fw.evaluate(*(each for each in values if isinstance(each, fw.Array)))
                found.append([np.asarray(each) for each in values])
        wanted = program(np, number, data)
        for together, alone, apart, theirs in zip(*found, wanted, strict=True):
            assert np.array_equal(together, apart), (shape, number)
            assert np.array_equal(alone, apart), (shape, number)
            assert np.allclose(apart, theirs, rtol=1e-11, atol=1e-9)

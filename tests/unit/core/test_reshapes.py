"""Reshaped, sliced and turned views of views: the same values and the same sharing as NumPy's."""

from __future__ import annotations

import itertools
import random
from math import prod
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

Chance = random.Random


def factors(size: int) -> list[tuple[int, ...]]:
    """Extents above one whose product is a size."""
    if size == 1:
        return [()]
    found = [(n, *rest) for n in range(2, size + 1) if size % n == 0 for rest in factors(size // n)]
    return [extents for extents in found if len(extents) <= 4]


def extents(chance: Chance, size: int) -> list[int]:
    found = list(chance.choice(factors(size)))
    for _ in range(chance.randrange(2)):
        found.insert(chance.randrange(len(found) + 1), 1)
    return found or [1]


def step(chance: Chance, arrays: list[Any]) -> list[Any]:
    """The same view of each."""
    shape = arrays[0].shape
    kind = chance.randrange(5)
    if kind == 0:
        starts = [chance.randrange(2) if extent > 2 else 0 for extent in shape]
        key = tuple(slice(at, None, chance.choice((1, 1, 2, -1))) for at in starts)
        return [array[key] for array in arrays]
    if kind == 1:
        order = list(range(len(shape)))
        chance.shuffle(order)
        return [array.transpose(order) for array in arrays]
    if kind == 2:
        return [array.ravel() for array in arrays]
    wanted = extents(chance, arrays[0].size)
    return [array.reshape(wanted) for array in arrays]


@pytest.mark.parametrize("seed", range(12))
def test_views_of_views(seed: int) -> None:
    chance = Chance(seed)
    for _ in range(60):
        big = [n + chance.randrange(3) for n in extents(chance, chance.choice((6, 12, 24, 36)))]
        theirs = np.arange(float(prod(big))).reshape(big)
        ours: Any = fw.asarray(theirs)
        if chance.random() < 0.5:
            ours = ours * 1.0
        if chance.random() < 0.5:
            fw.evaluate(ours)
        wanted, found = theirs, ours
        for _ in range(chance.randrange(1, 5)):
            if wanted.size == 0:
                break
            wanted, found = step(chance, [wanted, found])
            assert found.shape == wanted.shape
            assert np.shares_memory(wanted, theirs) == fnp.shares_memory(found, ours)
        if chance.random() < 0.5 and wanted.base is not None:
            wanted[...] = wanted * 2.0 + 1.0
            found[...] = found * 2.0 + 1.0
        assert np.array_equal(np.asarray(found), wanted)
        assert np.array_equal(np.asarray(ours), theirs)
        copies = wanted.copy(), found.copy()
        assert copies[1].flags.c_contiguous
        assert np.array_equal(np.asarray(copies[1]), copies[0])


@pytest.mark.parametrize("shape", list(itertools.permutations((1, 3, 4))))
def test_what_is_made_of_turned_views_is_turned_alike(shape: tuple[int, ...]) -> None:
    base = np.linspace(-1.0, 1.0, 12)
    ours: Any = (fw.asarray(base) * 1.0).reshape(shape).transpose(2, 0, 1)
    theirs: Any = (base * 1.0).reshape(shape).transpose(2, 0, 1)
    made: Any
    for made in (
        lambda np, x: np.exp(x),
        lambda np, x: x + x,
        lambda np, x: (x > 0) * x,
        lambda np, x: x - x.max(),
        lambda np, x: x.T * 2.0,
        lambda np, x: 1.0 - x,
    ):
        mine, wanted = made(fnp, ours), made(np, theirs)
        dims = [dim for dim, extent in enumerate(wanted.shape) if extent > 1]
        assert [mine.strides[dim] for dim in dims] == [wanted.strides[dim] for dim in dims]
        assert np.allclose(np.asarray(mine), wanted, rtol=1e-15)

"""What must not depend on what ran before or on what lies in memory: whether a number of NumPy's
widens an in-place update of a part, or is refused, and the order of a complex product.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

DTYPES = ("?", "i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16")
NUMBERS = [np.dtype(kind).type(number) for kind in DTYPES for number in (1, 3.3)]
PYTHONS = [True, 3, -1, 300, 2.1, 1 + 2j]
OPERATORS = (
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.iand,
)
Update = Callable[[Any, Any], Any]


def _told(update: Update, array: Any, part: Any, number: Any) -> str:
    """What becomes of `array[part] ∘= number`: nothing, or the built-in class of the error."""
    try:
        array[part] = update(array[part], number)
    except (TypeError, ValueError, OverflowError) as error:
        return next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")
    return ""


@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_widen_or_are_refused_as_in_numpy(dtype: str, small: int) -> None:
    base = np.tile(np.arange(1, 9), 100).astype(dtype)
    with fw.options(small=small), np.errstate(all="ignore"):
        for update in OPERATORS:
            for part in (slice(None, 40), slice(1, 81, 2)):
                ours = fnp.array(base)
                for number in (*PYTHONS, *NUMBERS, *PYTHONS):
                    theirs = base.copy()
                    ours[:] = base
                    wanted = _told(update, theirs, part, number)
                    assert _told(update, ours, part, number) == wanted, (update, part, number)
                    assert np.asarray(ours).tobytes() == theirs.tobytes(), (update, part, number)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_products_have_one_order_whatever_lies_in_memory(dtype: str) -> None:
    """Fused or not, compiled or not: NumPy's order would follow the layout of the operand."""
    chance = np.random.default_rng(5)
    base = (1 + 0.3 * chance.normal(size=(5, 6, 7))).astype(dtype)
    base += 0.3j * chance.normal(size=base.shape)
    views = (lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[..., ::2])
    for view, axis in itertools.product(views, (None, 0, 2, (0, 2))):
        found = set()
        for settings in ({}, {"fuse": False}, {"interpret": False}):
            with fw.options(small=0, **settings):
                array = view(fnp.array(base))
                found.add(np.asarray(array.prod(axis=axis)).tobytes())
                found.add(np.asarray((array * 1).prod(axis=axis)).tobytes())
        assert len(found) == 1, axis


@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("shape", [(3, 4, 5), (4, 60, 200), (3, 150, 230)])
def test_masks_write_into_parts_as_in_numpy(shape: tuple[int, ...], small: int) -> None:
    """Whatever is pending: the target, the mask, the elements that are written."""
    chance = np.random.default_rng(7)
    base, mask = chance.normal(size=shape), chance.random(shape[1:]) > 0.7
    rows: list[list[float]] = []
    with fw.options(small=small):
        for xp in (np, fnp):
            array, first = xp.array(base), xp.array(mask)
            held = []
            for step in range(4):
                second = xp.roll(first, 1, axis=0)
                array[0][first] = array[1][second][: int(first.sum())]
                array[1][first] = 0.5 * step
                array[2][first] = array[0][first]
                kept = array[1][second]
                array[0][second] = kept
                array[0][first] += 1.0
                array[:, first] = array[:, second]
                array[1:, second] *= 2.0
                array[0, first] = array[2, first] - 1
                held.append(kept)
                if step % 2:
                    array = array * 1.5
            rows.append(
                [*np.asarray(array).ravel(), *(x for each in held for x in np.asarray(each))]
            )
    assert rows[0] == rows[1]


def test_nan_to_num_writes_into_arrays_of_numpys() -> None:
    with fw.options(small=0):
        array = np.array([np.inf, 1.0, np.nan] * 300)
        fnp.nan_to_num(array, copy=False)
    assert np.isfinite(array).all()

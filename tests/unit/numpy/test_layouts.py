"""View or copy, and the order of elements in memory, are NumPy's: for every operation on every kind
of array, results have NumPy's strides and flags, and are seen to change, or not, where its are.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from tests.unit.numpy.layouts import OPERATIONS, bases

import fusewright as fw
import fusewright.numpy as np
from fusewright.base.options import defaults, set_defaults
from fusewright.frontends.arrays import Array, Scalar


@pytest.fixture(autouse=True)
def _recorded(_compiling: None) -> Iterator[None]:
    before = defaults()
    set_defaults(small=0, interpret=True)
    yield
    set_defaults(small=before.small, interpret=before.interpret)


def fresh() -> Any:
    """Sixty different numbers of which some are equal after division."""
    return (numpy.arange(60.0) * 7 % 11).reshape(4, 3, 5)


def parts(result: Any) -> list[Any]:
    """The arrays of a result."""
    if isinstance(result, tuple | list):
        return [each for one in result for each in parts(one)]
    arrays = isinstance(result, numpy.ndarray | Array) and not isinstance(result, Scalar)
    return [result] if arrays else []


def strides(array: Any) -> Any:
    """Those that matter: of dims with several elements."""
    if 0 in array.shape:
        return ()
    return tuple(s for n, s in zip(array.shape, array.strides, strict=True) if n > 1)


def facts(module: Any, base: Any, operation: Any) -> list[Any]:
    """What NumPy's users can see of the layout of a result."""
    root = fw.asarray(fresh()) if module is np else fresh()
    array = base(module, root)
    seen: list[Any] = []
    results = parts(operation(module, array))
    for result in results:
        flags = result.flags
        seen.append(
            (result.shape, strides(result), flags.c_contiguous, flags.f_contiguous, flags.writeable)
        )
    return seen + [shown(array, result) for result in results]


def shown(array: Any, result: Any) -> tuple[Any, ...]:
    """Whether writes to one are seen in the other."""
    if not array.size or not result.size:
        return ()
    out = []
    for source, target in ((array, result), (result, array)):
        if not source.flags.writeable or source is target:
            out.append(source is target)
            continue
        before = numpy.array(target)
        kept = numpy.array(source)
        source[...] = 77 if source.dtype != bool else ~kept
        out.append(not numpy.array_equal(before, numpy.array(target), equal_nan=True))
        source[...] = kept
    return tuple(out)


def different(base: Any, operation: Any) -> tuple[Any, Any] | None:
    """What NumPy shows and what we show, where they differ."""
    expected = facts(numpy, base, operation)
    found = facts(np, base, operation)
    return None if expected == found else (expected, found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATIONS)
def test_results_lie_as_numpys(name: str) -> None:
    wrong = {}
    with numpy.errstate(all="ignore"):
        for kind, base in bases().items():
            difference = different(base, OPERATIONS[name])
            if difference is not None:
                wrong[kind] = difference
    assert not wrong, "\n".join(
        f"{kind}: {want}\n   but {have}" for kind, (want, have) in wrong.items()
    )


GRIDS = frozenset(("meshgrid", "meshgrid ij", "meshgrid xy"))
"""Copies of repeated vectors, which no memory holds: where such a grid meets an array in Fortran
order, the result is in that order, and in C's in NumPy (decision 0019).
"""


def chained(names: list[str]) -> Any:
    """Operations one after the other, each on the last array that the one before gave."""

    def operation(module: Any, x: Any) -> Any:
        for name in names[:-1]:
            arrays = parts(OPERATIONS[name](module, x))
            fitting = [a for a in arrays if a.ndim <= 3 and a.dtype == float and a.size < 5000]
            x = fitting[-1] if fitting else x
        return OPERATIONS[names[-1]](module, x)

    return operation


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(12))
def test_operations_one_after_the_other(seed: int) -> None:
    chance = random.Random(seed)
    names, kinds = [name for name in OPERATIONS if name not in GRIDS], bases()
    with numpy.errstate(all="ignore"):
        for _ in range(40):
            kind = chance.choice(list(kinds))
            chain = chance.choices(names, k=3)
            try:
                expected = facts(numpy, kinds[kind], chained(chain))
            except (TypeError, ValueError, IndexError):
                continue  # no program
            assert facts(np, kinds[kind], chained(chain)) == expected, (kind, chain)


def test_writes_keep_the_layout_of_what_they_change() -> None:
    for module in (numpy, np):
        turned = module.asarray(module.array(fresh()[0])).T * 2
        turned += module.ones((5, 3))
        turned[1:] *= 3
        turned[...] = turned + module.arange(15.0).reshape(5, 3)
        assert turned.flags.f_contiguous and turned.strides == (8, 40)
        assert turned.flags.owndata and turned.base is None
    kept = fresh()[0].T * 2 + 1
    kept[1:] *= 3
    assert (numpy.asarray(turned) == kept + numpy.arange(15.0).reshape(5, 3)).all()
    assert numpy.asarray(turned).strides == (8, 40)


def test_pickles_and_copies_keep_the_layout() -> None:
    turned = fw.asarray(fresh()[0]).T * 2
    for again in (pickle.loads(pickle.dumps(turned)), copy.copy(turned), copy.deepcopy(turned)):
        assert again.strides == turned.strides and again.flags.owndata
        assert (numpy.asarray(again) == fresh()[0].T * 2).all()
    assert turned.tobytes("A") == (fresh()[0].T * 2).tobytes("A")

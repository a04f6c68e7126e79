"""bfloat16 is loaded, stored and converted; what is computed with it is computed in float32 and
rounded once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fusewright import driver
from fusewright.base.options import options
from fusewright.bridges.torch import nodes
from fusewright.ir import bfloat16, dtypes
from fusewright.ir.dtypes import BFLOAT16, BOOL, FLOAT32, DType
from fusewright.ir.graph import LEAF, Node, contiguous_strides, leaf, memory_of, scalar
from fusewright.ir.ops import MAP
from fusewright.targets import reference

EVERY = np.arange(1 << 16, dtype=np.uint16).view(bfloat16.STORED)
REALS = [row for row in dtypes.ROWS if not row.is_complex]


def loop_of(name: str) -> str:
    """What a function of float32 numbers gives, by NumPy's letter; nothing where it has no loop."""
    meaning = MAP[name].meaning
    if not isinstance(meaning, np.ufunc):
        return ""
    try:
        return meaning.resolve_dtypes((FLOAT32.numpy,) * meaning.nin + (None,) * meaning.nout)[
            -1
        ].char
    except TypeError:
        return ""


FUNCTIONS = [name for name in MAP if loop_of(name) in ("f", "?")]
Array = Any


def value(array: Array, dtype: DType) -> Node:
    array = np.ascontiguousarray(array)
    strides = contiguous_strides(array.shape, dtype.itemsize)
    return leaf(memory_of(array), dtype, array.shape, 0, strides)


def copied(node: Node) -> Node:
    """The same program, not yet run."""
    if node.kind == LEAF:
        return node
    args = tuple(copied(arg) for arg in node.args)
    return Node(node.kind, node.op, args, node.dtype, node.shape, node.attr, node.value)


def array_of(node: Node) -> Array:
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides).copy()


def results(node: Node) -> list[Array]:
    """By fused code, by the reference, and operation by operation."""
    found = []
    for run in (_compiled, lambda each: reference.evaluate([each]), lambda e: driver.evaluate([e])):
        again = copied(node)
        run(again)
        found.append(array_of(again))
    return found


def _compiled(node: Node) -> None:
    with options(interpret=False):
        driver.evaluate([node])


def bits(array: Array, dtype: DType) -> Array:
    """As integers, every NaN the same."""
    wide = bfloat16.widened(array) if dtype is BFLOAT16 else array
    if not dtype.is_float:
        return wide
    same = np.where(np.isnan(wide), wide.dtype.type(np.nan), wide)
    return same.view(f"u{same.dtype.itemsize}")


def check(node: Node, want: Array | None = None) -> None:
    first, *others = (bits(each, node.dtype) for each in results(node))
    for other in others:
        np.testing.assert_array_equal(first, other)
    if want is not None:
        np.testing.assert_array_equal(first, bits(want, node.dtype))


def random_floats(count: int) -> Array:
    pattern = np.random.default_rng(3).integers(0, 1 << 32, count, dtype=np.uint32)
    near = (pattern & 0xFFFF0000) + np.random.default_rng(4).choice([0x7FFF, 0x8000, 0x8001], count)
    return np.concatenate([pattern, near.astype(np.uint32)]).view(np.float32)


def test_every_number_is_widened_exactly() -> None:
    """The bits are the upper half of a float32's."""
    wide = bfloat16.widened(EVERY)
    kept = np.isfinite(wide)
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    assert np.array_equal(wide.view(np.uint32), upper)
    assert np.array_equal(bfloat16.narrowed(wide).view(np.uint16)[kept], (upper >> 16)[kept])
    check(nodes.cast(value(EVERY, BFLOAT16), FLOAT32), wide)


def test_the_nearest_is_taken_and_ties_go_to_even() -> None:
    finite = np.sort(bfloat16.widened(EVERY)[np.isfinite(bfloat16.widened(EVERY))])
    sample = [x for x in random_floats(400) if np.isfinite(x) and abs(x) < finite[-1]]
    for x in sample:
        at = int(np.searchsorted(finite, x))
        low, high = finite[max(at - 1, 0)], finite[at]
        below, above = (
            Fraction(float(x)) - Fraction(float(low)),
            Fraction(float(high)) - Fraction(float(x)),
        )
        got = bfloat16.rounded(x)
        if below == above:
            assert bfloat16.bits_of(got) % 2 == 0
        else:
            assert got == (low if below < above else high)
    assert bfloat16.rounded(3.4e38) == np.inf and bfloat16.rounded(-1e-45) == 0.0


@pytest.mark.parametrize("target", REALS, ids=str)
def test_conversions(target: DType) -> None:
    """Of every number there is, and back."""
    every, wide = EVERY, bfloat16.widened(EVERY)
    if target.is_integer:  # what does not fit is the machine's
        limits = np.iinfo(target.numpy)
        every = EVERY[(wide > float(limits.min) - 1) & (wide < float(limits.max))]
    check(nodes.cast(value(every, BFLOAT16), target))
    check(nodes.cast(value(samples(target), target), BFLOAT16))


def samples(dtype: DType) -> Array:
    """Numbers of a type; in wide ones many lie near the middle of two of bfloat16's."""
    numbers = random_floats(3000)
    if dtype is BFLOAT16:
        return EVERY
    if dtype is BOOL:
        return numbers.view(np.uint8) % 2 == 1
    if dtype.is_float:
        with np.errstate(all="ignore"):
            return numbers.astype(dtype.numpy) * dtype.numpy.type(1 + 2.0**-40)
    return numbers.view(dtype.numpy)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_float32s_rounded(name: str) -> None:
    """Element by element, the same function of float32, then one rounding."""
    rng = np.random.default_rng(5)
    count = MAP[name].meaning.nin
    given = [EVERY if count == 1 else rng.permutation(EVERY)[:5000] for _ in range(count)]
    result, inner = (BOOL, BOOL) if loop_of(name) == "?" else (BFLOAT16, FLOAT32)
    node = nodes.mapped(name, *(value(x, BFLOAT16) for x in given), dtype=result)
    widened = [value(bfloat16.widened(x), FLOAT32) for x in given]
    wide = nodes.mapped(name, *widened, dtype=inner)
    _compiled(wide)
    want = array_of(wide) if result is BOOL else bfloat16.narrowed(array_of(wide))
    _compiled(node)
    if name != "nextafter":
        np.testing.assert_array_equal(bits(array_of(node), result), bits(want, result))


def test_neighbours_are_its_own() -> None:
    up = nodes.mapped("nextafter", value(EVERY, BFLOAT16), scalar(np.inf, BFLOAT16))
    _compiled(up)
    got, wide = bfloat16.widened(array_of(up)), bfloat16.widened(EVERY)
    order = np.unique(wide[~np.isnan(wide)])
    for x in order[:-1]:
        at = int(np.searchsorted(order, x))
        assert got[int(np.flatnonzero(wide == x)[0])] == order[at + 1]


def test_rounding_after_every_operation() -> None:
    """Numbers, choices, views and parts; nothing is kept in float32 from one to the next."""
    rng = np.random.default_rng(6)
    x = value(bfloat16.narrowed(rng.standard_normal((33, 20))), BFLOAT16)
    y = nodes.mapped("multiply", nodes.mapped("add", x, scalar(1.1, BFLOAT16)), x)
    row = nodes.viewed(y, [(1, 0, 1), (0, 19, -1)], (20, 33))
    chosen = nodes.mapped(
        "where", nodes.compared("less", row, scalar(0.3, BFLOAT16)), row, scalar(0.3, BFLOAT16)
    )
    check(nodes.assembled([chosen, row], [((0, 1), (0, 1)), ((0, 1), (33, 1))], (20, 66)))
    wide, small = bfloat16.widened(array_of(x)), np.float32(bfloat16.rounded(1.1))
    step = bfloat16.widened(bfloat16.narrowed(wide + small))
    check(y, bfloat16.narrowed(step * wide))


def test_sums_are_collected_in_float32() -> None:
    x = value(bfloat16.narrowed(np.ones((40, 1000))), BFLOAT16)
    check(nodes.reduced("sum", x, (1,), False), bfloat16.narrowed(np.full(40, 1000.0)))
    check(nodes.reduced("max", x, (0,), False), bfloat16.narrowed(np.ones(1000)))

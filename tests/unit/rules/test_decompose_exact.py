"""Exact ops bit for bit as NumPy computes them, on every dtype they are for: chosen values and what
hypothesis finds.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.compiled import Compiled, compiled
from tests.unit.ulps import SPECIAL

from fusewright.ir import dtypes
from fusewright.ir.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, UINT8, DType, from_numpy
from fusewright.ir.expr import Expr, param, postorder, typed_op
from fusewright.ir.ops import MAP, PRIMITIVE
from fusewright.rules.decompose import decompose, decompose_all

INTEGERS = [dtype for dtype in dtypes.ALL if dtype.is_integer]
FLOATS = [FLOAT64, FLOAT32, FLOAT16]
REALS = [BOOL, *INTEGERS, *FLOATS]

_ARITHMETIC = ("add", "subtract", "multiply", "floor_divide", "remainder", "fmod", "square", "sign")
_ORDER = ("maximum", "minimum", "fmax", "fmin", "greater", "greater_equal", "less", "equal")
_LOGIC = ("logical_and", "logical_or", "logical_xor", "logical_not")
_BITS = ("left_shift", "right_shift", "bitwise_count", "invert", "bitwise_xor")
_ROUND = ("floor", "ceil", "trunc", "rint", "absolute", "negative", "positive", "reciprocal")
_TEST = ("isnan", "isinf", "isfinite", "signbit")
_FLOAT_ONLY = ("copysign", "nextafter", "heaviside", "deg2rad", "rad2deg", "fabs", "divide", "sqrt")


def _has_loop(name: str, dtype: DType) -> bool:
    """NumPy computes it in this very dtype."""
    ufunc = MAP[name].meaning
    try:
        resolved = ufunc.resolve_dtypes((*[dtype.numpy] * ufunc.nin, None))
    except TypeError:
        return False
    return all(kind == dtype.numpy for kind in resolved[:-1])


CASES = [
    (name, dtype)
    for names in (_ARITHMETIC, _ORDER, _LOGIC, _BITS, _ROUND, _TEST, _FLOAT_ONLY)
    for name in names
    for dtype in REALS
    if _has_loop(name, dtype)
]


def _node(name: str, dtype: DType) -> Expr:
    ufunc = MAP[name].meaning
    result = from_numpy(ufunc.resolve_dtypes((*[dtype.numpy] * ufunc.nin, None))[-1])
    assert result is not None
    return typed_op(name, result, *(param(number, dtype) for number in range(ufunc.nin)))


@cache
def _function(name: str, dtype: DType) -> Compiled:
    return compiled(decompose(_node(name, dtype)), width=8)


def _values(dtype: DType) -> np.ndarray[Any, Any]:
    if dtype is BOOL:
        return np.array([False, True])
    if dtype.is_float:
        with np.errstate(all="ignore"):
            extra = [6e-8, 65504.0, -65504.0, 1e-5, 7.0, -7.0, 2.5, -1.5, 0.1, 1e30]
            return np.array([*SPECIAL, *extra]).astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    near = [0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 33, 63, 64, 65, 100, info.max, info.max - 1, info.min]
    signed = [-1, -2, -3, -7, -64, info.min + 1] if dtype.kind == "i" else []
    return np.array([v for v in near + signed if info.min <= v <= info.max], dtype.numpy)


def _check(name: str, dtype: DType, args: tuple[Any, ...]) -> None:
    got = _function(name, dtype)(*args)
    with np.errstate(all="ignore"):
        want = MAP[name].meaning(*args)
    if want.dtype == bool:
        got = got.astype(bool)
    assert got.dtype == want.dtype
    same = got == want
    if want.dtype.kind == "f":
        same |= np.isnan(got) & np.isnan(want)
        if name not in ("fmax", "fmin"):  # NumPy itself gives either zero there
            same &= (np.signbit(got) == np.signbit(want)) | np.isnan(want)
    place = int(np.argmin(same))
    assert same.all(), f"{name}{tuple(a[place] for a in args)}: {got[place]!r}, not {want[place]!r}"


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_chosen_values(name: str, dtype: DType) -> None:
    values = _values(dtype)
    if MAP[name].meaning.nin == 1:
        _check(name, dtype, (values,))
    else:
        _check(name, dtype, (np.repeat(values, values.size), np.tile(values, values.size)))


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "nextafter"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_found_floats(name: str, dtype: DType, data: st.DataObject) -> None:
    number = st.floats(width=dtype.bits)
    pairs = data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=24))
    _check(name, dtype, tuple(np.array(column, dtype.numpy) for column in zip(*pairs, strict=True)))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "left_shift", "right_shift"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_found_integers(name: str, dtype: DType, data: st.DataObject) -> None:
    info = np.iinfo(dtype.numpy)
    number = st.integers(int(info.min), int(info.max)) | st.integers(0, 70)
    number = number.filter(lambda value: info.min <= value <= info.max)
    pairs = data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=24))
    _check(name, dtype, tuple(np.array(column, dtype.numpy) for column in zip(*pairs, strict=True)))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_power(dtype: DType) -> None:
    base = _values(dtype)
    exponent = np.array([0, 1, 2, 3, 7, 8, 31, 62, 63, 64, 100, 127], dtype.numpy)
    _check("power", dtype, (np.repeat(base, exponent.size), np.tile(exponent, base.size)))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "power", "arctan2", "hypot", "cbrt"])
def test_half_rounds_float32(name: str) -> None:
    """float16 functions are the float32 function, rounded: within one step of NumPy's (whose
    float32 may differ).
    """
    patterns = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    nin = MAP[name].meaning.nin
    args = (patterns,) if nin == 1 else (patterns, np.roll(patterns[::-1], 12345))
    got = _function(name, FLOAT16)(*args)
    with np.errstate(all="ignore"):
        want = MAP[name].meaning(*args)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    kept = np.isfinite(want)
    np.testing.assert_array_max_ulp(got[kept], want[kept], maxulp=1)


def test_every_op_becomes_primitives() -> None:
    """Nothing of MAP is left over, for any dtype NumPy takes it in."""
    for name, row in MAP.items():
        for dtype in REALS:
            if not isinstance(row.meaning, np.ufunc):
                continue
            if not _has_loop(name, dtype) or _node(name, dtype).dtype.is_complex:
                continue
            names = {n.name for n in postorder([decompose(_node(name, dtype))])}
            assert names <= PRIMITIVE.keys() | {"const", "param"}, (name, dtype)


def test_roots_share_their_parts() -> None:
    x = param(0, FLOAT64)
    memo: dict[Expr, Expr] = {}
    root = typed_op("exp", FLOAT64, x)
    first, second = decompose_all([root, typed_op("add", FLOAT64, root, x)], memo)
    assert second.args[0] is first


def test_bitwise_count_is_a_byte() -> None:
    assert decompose(_node("bitwise_count", dtypes.INT64)).dtype is UINT8

"""Every element-wise op on every dtype it takes, on ordinary and special values, is NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.targets.compared import assert_close
from tests.unit.ulps import error

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.ir import dtypes, ops
from fusewright.numpy.elementwise import SPECIAL

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.25, -1e-3, 100.0, np.inf, -np.inf,
    np.nan, 0.1, 1e-30, 60000.0,
]  # fmt: skip
COMPLEX = [0.5 + 1j, -2 - 0.25j, 3 + 0j, 1j, -1.5 + 2j, 0.1 - 0.1j]
ROUNDED = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "sin",
    "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh",
    "arccosh", "arctanh",
    "hypot", "cbrt", "power", "float_power", *ops.SPECIAL,
}  # fmt: skip
"""Both sides round: ours within 1 or 2 ulp of the truth, NumPy's within 4 (float32)."""
ULPS = 5
SHIFTS = {"left_shift", "right_shift"}
EITHER_ZERO = {"fmax", "fmin"}
"""Of two zeros either may be the larger: NumPy's own loops differ."""
FLOATS_ONLY = ops.SPECIAL
"""NumPy has no such ufunc; of the other types the meaning in `ops` says nothing."""
ELSEWHERE = {"cast", "where", "complex"}
BY_DTYPE = [dtype.name for dtype in dtypes.ALL]
FLOAT_DTYPES = [dtype.name for dtype in dtypes.ALL if dtype.is_float]


def values(dtype: str) -> Any:
    """Specials and ordinary values of a dtype; integers with both ends."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False, True])
    if kind in "iu":
        info = np.iinfo(dtype)
        chosen = [0, 1, 2, 3, 7, 50, 100, info.max, info.max - 1, info.min, info.min + 1]
        return np.array(chosen + ([-1, -2, -7, -100] if kind == "i" else []), dtype)
    if kind == "c":
        return np.array(COMPLEX, dtype)
    info = np.finfo(dtype)
    ends = [info.max, info.tiny, info.smallest_subnormal, -info.eps, 1 + info.eps]
    with np.errstate(over="ignore"):
        return np.array([*FLOATS, *(float(end) for end in ends)]).astype(dtype)


def operands(name: str, dtype: str) -> list[Any]:
    """All pairs of values (or each value), repeated so that whole vectors and a rest are met."""
    chosen = values(dtype)
    if ops.MAP[name].arity == 1:
        return [np.tile(chosen, 5)]
    first, second = np.repeat(chosen, chosen.size), np.tile(chosen, chosen.size)
    if name == "power" and np.dtype(dtype).kind in "iu":
        second = abs(second.astype(dtype)) % 7
    if name in SHIFTS and np.dtype(dtype).kind in "iu":
        second = abs(second % 70)
    return [first, second.astype(dtype)]


def their(name: str, inputs: list[Any]) -> Any:
    meaning = ops.MAP[name].meaning
    with np.errstate(all="ignore"):
        return meaning(*inputs)


def tolerance(name: str, dtype: np.dtype[Any]) -> int:
    if dtype.kind == "c":
        return 64  # NumPy's complex functions and products cancel in places of their own
    if name == "lgamma":  # between the zeros at -2.46 and -2.75 the bound is absolute
        return 64
    if name in ROUNDED and dtype.kind == "f":
        return ULPS
    return 1 if name in EITHER_ZERO and dtype.kind == "f" else 0


@pytest.mark.parametrize("name", sorted(set(ops.MAP) - ELSEWHERE))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_op_on_every_dtype(target: str, name: str) -> None:
    function = SPECIAL.get(name) or getattr(fnp, name)
    wanted, made = [], []
    for dtype in FLOAT_DTYPES if name in FLOATS_ONLY else BY_DTYPE:
        inputs = operands(name, dtype)
        try:
            want = their(name, inputs)
        except TypeError:
            with pytest.raises(TypeError):
                function(*map(fw.asarray, inputs))
            continue
        wanted.append((dtype, want))
        made.append(function(*map(fw.asarray, inputs)))
    assert wanted, name
    fw.evaluate(*made)
    for (dtype, want), got in zip(wanted, made, strict=True):
        assert_close(got, want, tolerance(name, want.dtype), f"{name} {dtype}")


@pytest.mark.parametrize("source", BY_DTYPE)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_cast_to_every_dtype(target: str, source: str) -> None:
    chosen = np.tile(values(source), 5)
    bounded = chosen.real[np.isfinite(chosen) & (abs(chosen.real.astype(float)) < 120)]
    for dtype in BY_DTYPE:
        integer = np.dtype(dtype).kind in "iu" and chosen.dtype.kind in "fc"
        inputs = bounded if integer else chosen
        if np.dtype(dtype).kind == "u" and integer:
            inputs = abs(inputs)  # negative floats as unsigned integers mean nothing in C
        with np.errstate(all="ignore"):
            want = inputs.astype(dtype)
        assert_close(fw.asarray(inputs).astype(dtype), want, 0, f"{source} to {dtype}")


@pytest.mark.parametrize("dtype", BY_DTYPE)
def test_where_on_every_dtype(target: str, dtype: str) -> None:
    x = np.tile(values(dtype), 4)
    choice = np.arange(x.size) % 3 == 0
    got = fnp.where(fw.asarray(choice), fw.asarray(x), fw.asarray(x[::-1].copy()))
    assert_close(got, np.where(choice, x, x[::-1]))


@pytest.mark.parametrize("dtype", BY_DTYPE)
def test_python_scalars_are_weak(target: str, dtype: str) -> None:
    x = values(dtype)[:3]
    for scalar in (2, 0.5, True):
        for apply in (lambda a, b: a + b, lambda a, b: b * a):
            with np.errstate(all="ignore"):
                assert_close(apply(fw.asarray(x), scalar), apply(x, scalar), 0, f"{dtype} {scalar}")


EXACT: dict[str, tuple[Callable[[Any], Any], int, tuple[float, float]]] = {
    "exp": (mpmath.exp, 1, (-80, 80)),
    "log": (mpmath.log, 1, (1e-6, 1e6)),
    "sin": (mpmath.sin, 1, (-1e4, 1e4)),
    "cos": (mpmath.cos, 1, (-1e4, 1e4)),
    "tan": (mpmath.tan, 1, (-1e3, 1e3)),
    "tanh": (mpmath.tanh, 1, (-9, 9)),
    "expm1": (mpmath.expm1, 2, (-5, 5)),
    "log1p": (mpmath.log1p, 2, (-0.9, 50)),
    "arctan": (mpmath.atan, 2, (-50, 50)),
    "arcsin": (mpmath.asin, 2, (-1, 1)),
    "sinh": (mpmath.sinh, 2, (-20, 20)),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), 2, (-1e5, 1e5)),
    "erf": (mpmath.erf, 2, (-4, 4)),
}
"""The function in exact arithmetic, the promised bound in ulp, where to look."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(EXACT))
def test_compiled_accuracy(target: str, name: str, dtype: str) -> None:
    if target == "reference":
        pytest.skip("NumPy's own functions promise no bound")
    exact, bound, (low, high) = EXACT[name]
    x = np.random.default_rng(2).uniform(low, high, 211).astype(dtype)
    got = np.asarray(getattr(fnp, name)(fw.asarray(x)))
    info = np.finfo(dtype)
    with mpmath.workdps(50):
        worst = max(
            error(float(g), exact(mpmath.mpf(float(v))), info) for g, v in zip(got, x, strict=True)
        )
    assert worst <= bound

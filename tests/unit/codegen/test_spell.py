"""Spelled primitives give the interpreter's bits at every width, on every target, at every
optimisation level.
"""

from __future__ import annotations

import math
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from tests.unit.compiled import compiled, feature_sets, module_text
from tests.unit.ulps import arguments

from fusewright.codegen.prelude import prelude
from fusewright.codegen.spell import current_block, literal, llvm_type, spell
from fusewright.ir import dtypes
from fusewright.ir.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT32,
    UINT64,
    DType,
)
from fusewright.ir.expr import Expr, cast, const, op, param, typed_op
from fusewright.ir.interpret import MEANING, Environment, convert, evaluate
from fusewright.ir.ops import PRIMITIVE
from fusewright.rules.decompose import decompose
from fusewright.rules.decompose.lengths import RARE, operands_of

REALS = [dtype for dtype in dtypes.ALL if not dtype.is_complex]
COMPUTED = [dtype for dtype in REALS if dtype is not FLOAT16]
FLOATS = [FLOAT32, FLOAT64]
INTEGERS = [dtype for dtype in REALS if dtype.is_integer]

_TAKES: dict[str, tuple[int, list[DType]]] = {
    **dict.fromkeys(("add", "subtract", "multiply"), (2, INTEGERS + FLOATS)),
    **dict.fromkeys(("tdiv", "trem", "shl", "shr"), (2, INTEGERS)),
    **dict.fromkeys(("divide", "copysign"), (2, FLOATS)),
    **dict.fromkeys(("negative", "absolute"), (1, INTEGERS + FLOATS)),
    **dict.fromkeys(("sqrt", "floor", "ceil", "trunc", "rint"), (1, FLOATS)),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal"), (2, COMPUTED)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), (2, [BOOL, *INTEGERS])),
    "invert": (1, [BOOL, *INTEGERS]),
    "popcount": (1, INTEGERS),
    "fma": (3, FLOATS),
}
"""Number of operands and their dtypes; the other primitives have tests of their own."""
CASES = [(name, dtype) for name, (_, kinds) in _TAKES.items() for dtype in kinds]
_OWN_TESTS = {
    "exponent",
    "fraction",
    "where",
    "cast",
    "bitcast",
    "ldexp",
    "sin_far",
    "cos_far",
    "tan_far",
    "fmod_far",
    *RARE,
}


def _values(dtype: DType, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    if dtype is BOOL:
        return rng.integers(0, 2, 64).astype(bool)
    if dtype is FLOAT16:
        return rng.integers(0, 1 << 16, 512, dtype=np.uint16).view(np.float16)
    if dtype.is_float:
        return rng.permutation(arguments(dtype.numpy, 64, seed))[:192]
    info = np.iinfo(dtype.numpy)
    wide = rng.integers(info.min, info.max, 96, dtype=dtype.numpy, endpoint=True)
    near = rng.integers(max(info.min, -9), 9, 32).astype(dtype.numpy)
    return np.concatenate([wide, near, np.array([info.min, info.max, 0, 1], dtype.numpy)])


def _assert_same(name: str, got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> None:
    got = got.astype(bool) if want.dtype == bool else got
    same = got == want
    if want.dtype.kind == "f":
        same = (same & (np.signbit(got) == np.signbit(want))) | (np.isnan(got) & np.isnan(want))
    assert same.all(), (name, int(np.argmin(same)), got[~same][:3], want[~same][:3])


def _everywhere(name: str, root: Expr, *args: np.ndarray[Any, Any]) -> None:
    """Every width, feature set and level against the interpreter."""
    want = evaluate(root, Environment(params=dict(enumerate(args))))
    for features in feature_sets():
        for width, level in ((1, 0), (8, 0), (8, 2), (32, 2)):
            got = compiled(root, width, features, level)(*args)
            _assert_same(f"{name} {features} {width} {level}", got, want)


def test_every_primitive_is_tested() -> None:
    assert _TAKES.keys() | _OWN_TESTS == PRIMITIVE.keys()
    assert MEANING.keys() | {"cast", "bitcast"} == PRIMITIVE.keys()


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_primitive(name: str, dtype: DType) -> None:
    arity, _ = _TAKES[name]
    args = [_values(dtype, seed) for seed in range(arity)]
    if name in ("tdiv", "trem"):
        bad = (args[1] == 0) | (args[1] == np.array(-1).astype(dtype.numpy))
        args[1] = np.where(bad, dtype.numpy.type(3), args[1])
    if name in ("shl", "shr"):
        args[1] = args[1] & dtype.numpy.type(dtype.bits - 1)
    operands = [param(number, dtype) for number in range(arity)]
    comparison = name in ("equal", "not_equal", "less", "less_equal")
    _everywhere(name, typed_op(name, BOOL if comparison else dtype, *operands), *args)


@pytest.mark.parametrize(
    ("source", "target"), [(a, b) for a in REALS for b in REALS if a is not b], ids=str
)
def test_cast(source: DType, target: DType) -> None:
    x = _values(source, 3)
    root = cast(param(0, source), target)
    with np.errstate(all="ignore"):
        want = convert(x, source, target)
        by_numpy = x.astype(target.numpy)
    for features in feature_sets():
        for width in (1, 8, 32):
            _assert_same(f"{features} {width}", compiled(root, width, features, 0)(x), want)
    # NumPy's loops disagree with one another about large floats as uint32 and uint64.
    if not (source.is_float and target in (UINT32, UINT64)):
        _assert_same("numpy", want, by_numpy)


def test_float64_to_float16_rounds_once() -> None:
    rng = np.random.default_rng(5)
    halves = rng.integers(0, 0x7BFF, 4000, dtype=np.uint16).view(np.float16).astype(np.float64)
    steps = np.spacing(halves.astype(np.float16)).astype(np.float64)
    x = halves + steps / 2 + steps * rng.choice([0.0, 2.0**-40, -(2.0**-40)], halves.size)
    x = np.concatenate([x, [65519.999999, 65520.0, 2.0**-25, 2.0**-25 * 1.0000000001, 1e-300]])
    got = compiled(cast(param(0, FLOAT64), FLOAT16), 8)(x)
    with np.errstate(all="ignore"):
        assert np.array_equal(got, x.astype(np.float16))


@pytest.mark.parametrize("dtype", COMPUTED, ids=str)
def test_where(dtype: DType) -> None:
    args = (_values(BOOL, 1), np.resize(_values(dtype, 2), 64), np.resize(_values(dtype, 3), 64))
    root = op("where", param(0, BOOL), param(1, dtype), param(2, dtype))
    _everywhere("where", root, *args)


@pytest.mark.parametrize(
    ("source", "target"), [(FLOAT64, INT64), (UINT64, FLOAT64), (FLOAT32, INT32), (INT32, UINT32)],
    ids=str,
)  # fmt: skip
def test_bitcast(source: DType, target: DType) -> None:
    _everywhere("bitcast", typed_op("bitcast", target, param(0, source)), _values(source, 4))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ldexp(dtype: DType) -> None:
    """Gradual underflow rounds once, whichever way it is spelled."""
    rng = np.random.default_rng(6)
    most = 1090 if dtype is FLOAT64 else 155
    x = rng.uniform(-2, 2, 3000).astype(dtype.numpy)
    n = np.rint(rng.uniform(-most, most, 3000)).astype(dtype.numpy)
    x[:3] = math.inf, math.nan, -0.0
    _everywhere("ldexp", op("ldexp", param(0, dtype), param(1, dtype)), x, n)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["exponent", "fraction"])
def test_taking_apart(name: str, dtype: DType) -> None:
    x = abs(arguments(dtype.numpy, 400, 7, (0.75, 1.5)))
    _everywhere(name, op(name, param(0, dtype)), x[np.isfinite(x) & (x > 0)])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_far_arguments(name: str, dtype: DType) -> None:
    x = arguments(dtype.numpy, 24, 8, (2.0**16, 2.0**40, 1e30))
    _everywhere(name, decompose(op(name, param(0, dtype))), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_far_remainders(dtype: DType) -> None:
    a = arguments(dtype.numpy, 200, 9)
    b = np.random.default_rng(10).permutation(a)
    _everywhere("fmod", decompose(op("fmod", param(0, dtype), param(1, dtype))), a, b)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["exp", "log", "tanh", "power", "erf", "arctan2", "logaddexp"])
def test_same_bits_everywhere(name: str, dtype: DType) -> None:
    """Contract 2: a decomposition's bits depend on neither the width nor the features nor the
    level.
    """
    a = arguments(dtype.numpy, 40, 11, (0.0, 1.0))
    b = np.random.default_rng(12).permutation(a)
    args = (a, b) if name in ("power", "arctan2", "logaddexp") else (a,)
    operands = [param(number, dtype) for number in range(len(args))]
    _everywhere(name, decompose(op(name, *operands)), *args)


def test_literals_keep_their_bits() -> None:
    for value in (0.1, -0.0, 5e-324, math.inf):
        text = f"define double @f() {{ ret double {literal(value, FLOAT64, 1)} }}"
        assert llvm.parse_assembly(text).verify() is None
        root = op("add", const(value, FLOAT64), param(0, FLOAT64))
        assert compiled(root, 8)(np.full(8, -0.0))[0] == value
    assert literal(0.1, FLOAT32, 4) == "splat (float 0x3FB99999A0000000)"
    assert literal(1.5, FLOAT16, 1) == "0xH3E00"
    assert literal(True, BOOL, 8) == "splat (i1 true)"
    assert llvm_type(INT32, 16) == "<16 x i32>"


def test_no_relaxed_arithmetic() -> None:
    """No fast-math flag, no contraction: every op rounds."""
    for name in ("exp", "log", "sin", "tanh", "power"):
        args = [param(number, FLOAT64) for number in range(2 if name == "power" else 1)]
        text = module_text(decompose(op(name, *args)), 8)
        words = set(text.replace("(", " ").split())
        assert not words & {"fast", "contract", "reassoc", "nnan", "ninf", "nsz", "arcp", "afn"}
        assert "fmuladd" not in text


def test_a_branch_is_reported() -> None:
    out: list[str] = []
    numbers = iter(range(100))
    x = param(0, FLOAT64)
    result = spell(op("sin_far", x, x), ["%x", "%y"], 8, out, lambda: f"%r{next(numbers)}")
    assert current_block(out) is not None
    assert out[-1].startswith(f"{result} = phi")
    assert current_block(["%a = add i64 1, 2"]) is None
    assert "@fw.sin_far.float64.v8(" in prelude("\n".join(out))
    assert prelude("%a = add i64 1, 2") == ""


@pytest.mark.parametrize("name", RARE)
def test_rare_lengths(name: str) -> None:
    """The branch is taken for any lane that needs it; a bound is the same in all lanes."""
    kinds = operands_of(name)
    root = typed_op(name, kinds[-1], *(param(n, dtype) for n, dtype in enumerate(kinds)))
    rng = np.random.default_rng(8)
    x, y = _values(FLOAT64, 1), _values(FLOAT64, 2)
    with np.errstate(all="ignore"):
        square = x * x + y * y
    if name == "hypot_far":
        _everywhere(name, root, x, y, square, np.full(x.shape, 7.0))
        return
    near = rng.integers(0, 2, x.size).astype(bool)
    for number, bound in ((2.0, 4.0), (2.0**-900, math.nan)):
        c, b = (np.full(x.shape, value) for value in (number, bound))
        if name in ("length_below_far", "length_at_most_far"):
            near &= ~np.isnan(square)  # such a length is not below anything, and no branch says so
        _everywhere(name, root, x, y, square, c, b, near)

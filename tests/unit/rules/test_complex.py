"""Complex expressions split into real ones give NumPy's numbers: compiled, both parts, chosen and
random values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.compiled import compiled

from fusewright.ir import expr
from fusewright.ir.dtypes import BOOL, COMPLEX64, COMPLEX128, FLOAT64, DType, component
from fusewright.ir.expr import Expr, cast, const, index, load, op, param, postorder, typed_op
from fusewright.ir.ops import MAP
from fusewright.rules.complex import OPAQUE_COMPLEX, split
from fusewright.rules.decompose import decompose

COMPLEX = [COMPLEX128, COMPLEX64]
EXACT = ["add", "subtract", "multiply", "divide", "negative", "positive", "conjugate", "square",
         "reciprocal"]  # fmt: skip
FUNCTIONS = ["exp", "log", "sqrt"]
TESTS = ["equal", "not_equal", "isnan", "isinf", "isfinite", "logical_and", "logical_or",
         "logical_not", "logical_xor"]  # fmt: skip


def _operand(number: int, dtype: DType) -> Expr:
    return param(number, dtype)


def _flat_params(root: Expr) -> Expr:
    """Parameter (n, part) as number 2 n + part, which the test loader reads from that array."""

    def rule(node: Expr) -> Expr | None:
        if node.name == "param" and isinstance(node.attr, tuple):
            return param(2 * node.attr[0] + node.attr[1], node.dtype)
        return None

    return expr.rewrite(root, rule, {})


def _run(root: Expr, *args: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    parts = [part for arg in args for part in (arg.real, arg.imag)]
    kernel = compiled(decompose(_flat_params(root)), 8)
    return kernel(*parts)


def _values(dtype: DType, special: bool) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(2)
    if special:
        reals = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e30])
        numbers = np.empty(64, np.complex128)
        numbers.real, numbers.imag = np.repeat(reals, 8), np.tile(reals, 8)
        a, b = np.repeat(numbers, 64), np.tile(numbers, 64)
    else:
        size = 10.0 ** rng.uniform(-5, 5, (2, 2000))
        a, b = size * (rng.standard_normal((2, 2000)) + 1j * rng.standard_normal((2, 2000)))
    with np.errstate(all="ignore"):
        return a.astype(dtype.numpy), b.astype(dtype.numpy)


def _same(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> bool:
    equal = (got == want) & (np.signbit(got) == np.signbit(want))
    return bool((equal | (np.isnan(got) & np.isnan(want))).all())


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_arithmetic(name: str, dtype: DType, special: bool) -> None:
    ufunc: Any = getattr(np, name)
    args = _values(dtype, special)[: ufunc.nin]
    root = typed_op(name, dtype, *(_operand(number, dtype) for number in range(ufunc.nin)))
    with np.errstate(all="ignore"):
        want = ufunc(*args)
    for part, expected in zip(split(root), (want.real, want.imag), strict=True):
        assert _same(_run(part, *args), expected)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", TESTS)
def test_questions(name: str, dtype: DType) -> None:
    ufunc: Any = getattr(np, name)
    args = _values(dtype, True)[: ufunc.nin]
    root = typed_op(name, BOOL, *(_operand(number, dtype) for number in range(ufunc.nin)))
    assert np.array_equal(_run(split(root)[0], *args).astype(bool), ufunc(*args))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_size_and_parts(dtype: DType) -> None:
    z, _ = _values(dtype, False)
    real = component(dtype)
    x = _operand(0, dtype)
    for name in ("real", "imag"):
        root = typed_op(name, real, x)
        assert _same(_run(split(root)[0], z), getattr(z, name))
    root = typed_op("absolute", real, x)
    np.testing.assert_array_max_ulp(_run(split(root)[0], z), np.abs(z), maxulp=2)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_exponential(dtype: DType) -> None:
    rng = np.random.default_rng(4)
    z = (rng.uniform(-80, 80, 2000) + 1j * rng.uniform(-100, 100, 2000)).astype(dtype.numpy)
    specials, _ = _values(dtype, True)
    root = op("exp", _operand(0, dtype))
    with np.errstate(all="ignore"):
        want, edge = np.exp(z), np.exp(specials)
    for number, part in enumerate(split(root)):
        expected = (want.real, want.imag)[number]
        np.testing.assert_array_max_ulp(_run(part, z), expected, maxulp=6)
        got, expected = _run(part, specials), (edge.real, edge.imag)[number]
        # C leaves the sign of the zeros and infinities of undirected cases open.
        undirected = ~np.isfinite(specials.imag)
        assert np.array_equal(np.isnan(got), np.isnan(expected))
        settled = ~np.isnan(expected)
        np.testing.assert_allclose(abs(got[settled]), abs(expected[settled]), rtol=1e-5)
        assert np.array_equal(np.signbit(got[settled & ~undirected]),
                              np.signbit(expected[settled & ~undirected]))  # fmt: skip


def test_conversions() -> None:
    z, _ = _values(COMPLEX128, False)
    x = _operand(0, COMPLEX128)
    narrow = split(cast(x, COMPLEX64))
    assert np.array_equal(_run(narrow[0], z), z.real.astype(np.float32))
    back = split(cast(param(0, FLOAT64), COMPLEX128))
    assert back[1] is const(0.0, FLOAT64)
    root = cast(x, FLOAT64)
    assert np.array_equal(_run(split(root)[0], z), z.real)


def test_choice_and_literals() -> None:
    x = _operand(0, COMPLEX128)
    condition = typed_op("equal", BOOL, x, const(1 + 2j, COMPLEX128))
    real, imaginary = split(op("where", condition, const(-0.0 + 5j, COMPLEX128), x))
    z = np.array([1 + 2j, 1 + 3j, 2 + 2j, 1 + 2j] * 2)
    assert np.array_equal(_run(real, z), [0, 1, 2, 0] * 2)
    assert np.array_equal(_run(imaginary, z), [5, 3, 2, 5] * 2)


def test_loads_become_pairs() -> None:
    real, imaginary = split(load(3, (index(0), index(1)), COMPLEX64))
    assert repr(real) == "b3[i0, i1, 0]"
    assert repr(imaginary) == "b3[i0, i1, 1]"


def test_what_is_left_to_numpy() -> None:
    """Every op of MAP either has a rule or says that it has none."""
    for name in MAP.keys() - OPAQUE_COMPLEX:
        row = MAP[name]
        operands = [_operand(number, COMPLEX128) for number in range(row.arity)]
        if name == "complex":  # of two reals: its parts
            continue
        if name == "where":
            operands[0] = param(9, BOOL)
        is_complex = name in (*EXACT, *FUNCTIONS, "where")
        root = typed_op(name, COMPLEX128 if is_complex else BOOL, *operands)
        parts = split(root) if root.dtype.is_complex else (split(root)[0],)
        assert not any(node.dtype.is_complex for node in postorder(parts))
    assert {"power", "sin", "tanh", "less"} <= OPAQUE_COMPLEX

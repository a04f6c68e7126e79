"""What a call's numbers are computed to by Python's operations is what NumPy's give."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64
from fusewright.ir.expr import Expr, cast, const, op, param, typed_op
from fusewright.ir.loops.interpret import meaning
from fusewright.kernels.python_functions import REFUSALS, ROWS, function_of, text_of
from fusewright.kernels.specialise import computed

VALUES: dict[Any, tuple[Any, ...]] = {
    INT64: (0, 1, -1, 7, -8, 1000, 2**40),
    FLOAT64: (0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 7.0, 1e300, math.inf, math.nan),
    BOOL: (False, True),
}
ONE = frozenset(("negative", "absolute", "sqrt", "floor", "ceil", "trunc", "rint", "logical_not"))
CASES = [(dtype, name) for dtype, rows in ROWS.items() for name in rows]


def operands(dtype: Any, name: str) -> list[tuple[Any, ...]]:
    """The types of the operands of an operation with that result."""
    if name == "cast":
        return [(each,) for each in VALUES if each is not dtype]
    if name == "where":
        return [(BOOL, dtype, dtype)]
    kinds = (BOOL,) if name.startswith("logical") else (INT64, FLOAT64)
    return [(each,) * (2 - (name in ONE)) for each in (kinds if dtype is BOOL else (dtype,))]


@pytest.mark.parametrize(("dtype", "name"), CASES, ids=str)
def test_rows_mean_what_numpys_operations_do(dtype: Any, name: str) -> None:
    for kinds in operands(dtype, name):
        args = tuple(param(number, kind) for number, kind in enumerate(kinds))
        root = cast(args[0], dtype) if name == "cast" else typed_op(name, dtype, *args)
        text = text_of(root, "args[{}]".format)
        assert text is not None
        for values in itertools.product(*(VALUES[kind] for kind in kinds)):
            given = [kind.numpy.type(value) for kind, value in zip(kinds, values, strict=True)]
            with np.errstate(all="ignore"):
                want = meaning(root, given)
            try:
                got = function_of(text)(values)
            except REFUSALS:
                continue
            if type(got) is int and abs(got) >= 2**63:
                continue  # no size
            assert (got == want and type(got) is type(want.item())) or (got != got and want != want)


def test_what_python_refuses_is_computed_by_numpy() -> None:
    quotient = op("divide", param(0, FLOAT64), param(1, FLOAT64))
    with np.errstate(all="ignore"):
        assert computed(quotient, {0: 1.0, 1: 0.0}) == math.inf
    assert computed(op("floor_divide", param(0, INT64), param(1, INT64)), {0: 7, 1: 2}) == 3


def test_a_long_expression_is_not_written_out() -> None:
    node: Expr = op("add", param(0, INT64), const(1, INT64))
    for _ in range(40):
        node = op("multiply", node, node)
    assert text_of(node, "args[{}]".format) is None
    assert computed(node, {0: 0}) == 1


@fw.kernel
def harmonics(phase, nmax):  # type: ignore[no-untyped-def]
    found = np.zeros(nmax)
    numbers = np.arange(1, nmax + 1)
    for k in numbers:
        found[k - 1] = np.sum(np.cos(k * phase))
    return numbers, 2.0 * found


@fw.kernel
def pairs(x, n):  # type: ignore[no-untyped-def]
    out = np.zeros(int(n * (n - 1) / 2))
    at = 0
    for i in range(n):
        for j in range(i):
            out[at] = x[i] * x[j]
            at += 1
    return out


@pytest.mark.parametrize("kernel", [harmonics, pairs])
def test_calls_with_sizes_from_numbers_are_known_to_the_core(kernel: Any) -> None:
    x = np.linspace(0, 1, 9)
    for n in (5, 7, 5):
        np.testing.assert_allclose(kernel(x, n), kernel.__wrapped__(x, n), rtol=1e-12)
    assert kernel.cache is not None

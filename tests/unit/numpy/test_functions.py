"""The functions of NumPy's main namespace, compared with NumPy on many operands."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tests.unit.numpy.cases import ANY, NONE, VECTORS
from tests.unit.numpy.compared import KINDS, SHAPES, check, operand

import fusewright.numpy as ours

UFUNCS = [
    name for name in dir(numpy)
    if isinstance(getattr(numpy, name), numpy.ufunc) and getattr(numpy, name).signature is None
    and getattr(numpy, name).__name__ == name
]  # fmt: skip
UNARY = [name for name in UFUNCS if getattr(numpy, name).nin == 1]
BINARY = [name for name in UFUNCS if getattr(numpy, name).nin == 2]


def _compare(expression: str, *makers: Any) -> None:
    exact = not expression.startswith("~")
    call = eval(f"lambda np, x=None: {expression.lstrip('~')}")
    check(call, *makers, exact=exact)


@pytest.mark.parametrize("expression", ANY)
def test_any_operand(expression: str) -> None:
    for kind in KINDS:
        for shape in SHAPES:
            _compare(expression, lambda np, k=kind, s=shape: operand(np, k, s))


@pytest.mark.parametrize("expression", VECTORS)
def test_vectors(expression: str) -> None:
    for kind in ("f8", "f4", "i"):
        _compare(expression, lambda np, k=kind: operand(np, k, "vector"))


@pytest.mark.parametrize("expression", NONE)
def test_without_operand(expression: str) -> None:
    _compare(expression)


@pytest.mark.parametrize("name", UNARY)
def test_unary_ufuncs(name: str) -> None:
    for kind in KINDS:
        for shape in ("matrix", "steps", "empty", "number"):
            check(lambda np, x: getattr(np, name)(x), lambda np, k=kind, s=shape: operand(np, k, s))


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufuncs(name: str) -> None:
    def call(np: Any, x: Any, y: Any) -> Any:
        return getattr(np, name)(x, y)

    for left in KINDS:
        for right in KINDS:
            check(
                call,
                lambda np, k=left: operand(np, k, "matrix"),
                lambda np, k=right: operand(np, k, "steps")[1, 1],
            )
        check(call, lambda np, k=left: operand(np, k, "turned"), lambda np: 2)
        check(call, lambda np: 3, lambda np, k=left: operand(np, k, "steps"))


def test_every_public_name_is_there() -> None:
    for name in dir(numpy):
        if not name.startswith("_"):
            assert getattr(ours, name) is not None or name == "newaxis"
    with pytest.raises(AttributeError):
        _ = ours.no_such_name


def test_what_numpy_raises_comes_of_nothing_of_ours() -> None:
    with pytest.raises(TypeError) as caught:
        ours.round(ours.ones(3000, bool), 2)  # no compiled form: NumPy is asked, and refuses
    before = caught.value.__context__
    while before is not None:
        assert not type(before).__module__.startswith("fusewright")
        before = before.__context__

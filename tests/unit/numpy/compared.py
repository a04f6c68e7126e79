"""One call under NumPy and under the drop-in: same values, dtypes, shapes, or the same kind of
error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from tests.evaluators import compiles

import fusewright.numpy as ours
from fusewright.frontends.arrays import Array

Call = Callable[..., Any]


def _base(kind: str) -> Any:
    rng = numpy.random.default_rng(7)
    values = rng.uniform(-3, 3, (4, 6))
    match kind:
        case "c":
            return (values + 1j * rng.uniform(-3, 3, (4, 6))).astype("c16")
        case "b":
            return values > 0
        case "u":
            return (abs(values) * 20).astype("u1")
        case "i":
            return (values * 5).astype("i4")
        case "f4":
            return values.astype("f4")
    return values


SHAPES: dict[str, Callable[[Any], Any]] = {
    "matrix": lambda x: x.copy(),
    "steps": lambda x: x[::2, ::-1],
    "turned": lambda x: x.T,
    "vector": lambda x: x[1],
    "empty": lambda x: x[:0],
    "number": lambda x: x[1, 2:3].reshape(()),
    "cube": lambda x: x.reshape(2, 2, 6),
}
KINDS = ("f8", "f4", "i", "u", "b", "c")


def operand(xp: Any, kind: str, shape: str) -> Any:
    """The same operand in either library; the odd shapes are views of a larger array."""
    return SHAPES[shape](xp.array(_base(kind)))


def outcome(function: Call) -> tuple[Any, type[Exception] | None]:
    """The value or the kind of error."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = function()
            return host(value), None
        except Exception as error:  # noqa: BLE001
            return None, type(error)


def host(value: Any) -> Any:
    """The value in NumPy's hands, computed; containers keep their kind."""
    if isinstance(value, Array):
        return numpy.array(value)
    if isinstance(value, list | tuple):
        return [host(item) for item in value]
    return value


def same(got: Any, want: Any, exact: bool = False) -> None:
    """Equal values, dtype and shape (for floats: within a few units in the last place)."""
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, exact)
        return
    got, want = numpy.asarray(got), numpy.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if exact or want.dtype.kind not in "fc":
        numpy.testing.assert_array_equal(got, want)
        return
    eps = float(numpy.finfo(want.dtype).eps)
    largest = numpy.max(abs(want[numpy.isfinite(want)]), initial=0.0)
    numpy.testing.assert_allclose(got, want, rtol=16 * eps, atol=64 * eps * float(largest))


def check(call: Call, *makers: Callable[[Any], Any], exact: bool = True) -> None:
    """`call(np, *operands)` means the same in both, `exact`ly where NumPy itself computes."""
    exact = exact and not compiles()
    want, refused = outcome(lambda: call(numpy, *(make(numpy) for make in makers)))
    got, error = outcome(lambda: call(ours, *(make(ours) for make in makers)))
    if refused is not None:
        assert error is not None, f"NumPy raises {refused.__name__}, the drop-in returns {got!r}"
        kinds = (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError)
        expected = next((kind for kind in kinds if issubclass(refused, kind)), refused)
        assert issubclass(error, expected), f"{error} is no {expected}"
        return
    if error is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(ours, *(make(ours) for make in makers))  # show where
        pytest.fail(f"{error}")
    same(got, want, exact)

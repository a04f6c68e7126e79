"""Classes that answer for NumPy's functions, and what they call when they do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as np


class Overriding(numpy.ndarray):
    """A class that answers for NumPy's functions."""

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function.__name__


OVERRIDDEN = """
np.block([[x, y]])
np.select([m, m], [x, y])
np.select([m], [x], 2.0)
np.choose([0, 1, 0], [x, y])
np.concatenate([y, x])
np.around(x)
np.round(x)
np.ix_(x)
np.iscomplexobj(x)
np.common_type(y, x)
np.isrealobj(x)
np.shares_memory(y, x)
np.may_share_memory(x, y)
np.meshgrid(y, x)
np.histogramdd([x, y])
""".strip().splitlines()


@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("expression", OVERRIDDEN)
def test_functions_ask_the_items_of_lists(expression: str, small: int) -> None:
    for extent in (3, 700):
        x = numpy.ones(extent).view(Overriding)
        with fw.options(small=small):
            found = [
                eval(expression, {"np": of, "x": x, "y": of.ones(extent), "m": of.ones(extent) > 2})
                for of in (numpy, np)
            ]
        assert isinstance(found[0], str) and found[1] == found[0]


def test_numpys_function_without_overrides_takes_ours() -> None:
    """`func._implementation(np.asarray(self), out=np.asarray(out))`, as classes of units do."""
    x, out = fw.asarray(numpy.arange(9.0).reshape(3, 3)), fw.asarray(numpy.zeros((3, 3)))
    np.dot._implementation(x, x, out=out)
    assert numpy.array_equal(out, numpy.dot(numpy.asarray(x), x))
    np.place._implementation(out, out > 20, [1.0])
    assert float(out.max()) <= 20
    assert np.array_repr._implementation(x).startswith("array(")


def test_broadcast_arrays_are_read_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for made in numpy.broadcast_arrays(numpy.arange(3.0), numpy.ones((2, 1))):
            assert fw.asarray(made, copy=False).shape == (2, 3)
            assert (fw.asarray(numpy.ones((2, 3))) + made).shape == (2, 3)
            with fw.options(small=0):
                assert np.asarray(made).sum() > 0


def test_the_method_dot_of_a_derived_class() -> None:
    class Derived(numpy.ndarray):
        __array_priority__ = 2.0

    for extent in (3, 700):
        x = numpy.ones(extent).view(Derived)
        assert type(fw.asarray(numpy.ones((2, extent))).dot(x)) is Derived
        with fw.options(small=0):
            assert type(np.astype(x, int)) is Derived


def test_arrays_of_objects_hold_what_overrides() -> None:
    """`np.array([x, [1, 2]], dtype=object)`: nobody asks the items what an array of them is."""
    x = numpy.ones(()).view(Overriding)
    for small in (0, 512):
        with fw.options(small=small):
            made = np.array([x, [1, 2]], dtype=object)
            assert made.dtype == object and made.shape == (2,)
            assert np.array([x, x]).dtype == float


class Writing(numpy.ndarray):
    """A class that hands operands to code which asks for memory to write (Cython's)."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return [numpy.frombuffer(each).flags.writeable for each in inputs]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return [numpy.frombuffer(each).flags.writeable for each in args]


def test_other_classes_get_memory_they_may_write() -> None:
    for extent in (5, 700):
        x, y = numpy.ones(extent).view(Writing), fw.asarray(numpy.arange(float(extent)))
        for found in (y * x, y + x, np.add(y, x), np.hypot(y, x), y @ x):
            assert found == [True, True]
        assert np.dot(y, x) == [True, True]
        y += 1.0
        assert float(y[1]) == 2.0


class Strict:
    """An object of a library that knows NumPy's arrays and numbers, by their classes."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        if not all(type(x) in (numpy.ndarray, Strict, int, float) for x in (*inputs, *out)):
            return NotImplemented
        held = [x.held if isinstance(x, Strict) else x for x in inputs]
        if out:
            kwargs["out"] = tuple(x.held if isinstance(x, Strict) else x for x in out)
        return Strict(getattr(ufunc, method)(*held, **kwargs))

    def __add__(self, other: Any) -> Any:
        return numpy.add(self, other)

    def __rsub__(self, other: Any) -> Any:
        return numpy.subtract(other, self)

    def __lt__(self, other: Any) -> Any:
        return numpy.less(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return numpy.matmul(other, self)


MEETINGS = """
b + x
x + b
x - b
b < x
x > b
x @ b
np.add(x, b)
np.add(b, x)
np.hypot(x, b) + x
np.multiply.outer(x[:3], b)
np.add(x, 1, out=(b,))
np.add(b, 1, out=(x,))
""".strip().splitlines()


@pytest.mark.parametrize("expression", MEETINGS)
def test_other_libraries_that_refuse_our_arrays_get_numpys(expression: str) -> None:
    for extent in (3, 700):
        x, y = numpy.arange(float(extent)), numpy.arange(float(extent)) + 2
        ours = fw.asarray(x.copy())
        want = eval(expression, {"np": numpy, "x": x, "b": Strict(y.copy())})
        found = eval(expression, {"np": np, "x": ours, "b": Strict(y.copy())})
        assert type(found) is type(want) is Strict
        assert type(found.held) is type(want.held)
        assert numpy.array_equal(found.held, want.held)
        assert numpy.array_equal(ours, x)

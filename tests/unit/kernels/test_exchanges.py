"""Names that stand for other arrays than before: exchanged in loops, returned, changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.kernels import exchange_kernels as programs

import fusewright as fw

NAMED = {"ids": lambda function: function.__name__}
SETTINGS = [{}, {"target": "reference"}, {"fuse": False}]


def plain(value: Any) -> Any:
    """Types and bits."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    array = np.asarray(value)
    return type(value).__name__, str(array.dtype), array.shape, array.tobytes()


def places(value: Any, arguments: list[Any]) -> Any:
    """Which arguments a result is."""
    if isinstance(value, tuple):
        return tuple(places(each, arguments) for each in value)
    return [value is each for each in arguments]


def assert_like_cpython(function: Any, kernel: Any, *arguments: Any) -> None:
    """The same result, of the same type; the same arguments given back; the same in the arrays."""
    own, wanted = (
        [np.copy(x) if isinstance(x, np.ndarray) else x for x in arguments] for _ in "ab"
    )
    right, found = function(*wanted), kernel(*own)
    assert (right is None) == (found is None)
    if right is not None:
        assert plain(found) == plain(right)
        assert places(found, own) == places(right, wanted)
    for x, y in zip(own, wanted, strict=True):
        assert plain(x) == plain(y)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("function", programs.EXCHANGES, **NAMED)
def test_arrays_change_names(function: Any, settings: dict[str, Any]) -> None:
    count, numbers = programs.EXCHANGES[function]
    kernel = fw.kernel(function)
    with fw.options(**settings):
        for number in (*numbers, *numbers):
            arrays = [(np.arange(8.0) + 0.5) * (k + 1) for k in range(count)]
            assert_like_cpython(function, kernel, *arrays, number)


def test_exchanged_arrays_of_two_shapes() -> None:
    """Each copy of the loop is right about its own array."""

    def function(a, b, n):
        for _ in range(n):
            for i in range(a.shape[0]):
                a[i] += 1
            a, b = b, a
        return a.shape[0]

    for n in range(4):
        assert_like_cpython(function, fw.kernel(function), np.zeros(3), np.zeros(5), n)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("function", programs.RESULTS, **NAMED)
def test_results_of_several_kinds(function: Any, settings: dict[str, Any]) -> None:
    count = function.__code__.co_argcount - 1
    kernel = fw.kernel(function)
    with fw.options(**settings):
        for _ in range(2):
            for x in (3, 1.5, 1, 0, -1, 4, 100):
                arrays = [np.arange(1.0, 6.0) * (k + 1) for k in range(count)]
                assert_like_cpython(function, kernel, x, *arrays)


def test_results_of_several_kinds_with_lazy_arrays() -> None:
    a, b = fw.asarray(np.arange(5.0)), fw.asarray(np.ones(5))
    kernel = fw.kernel(programs.one_of_two)
    assert [float(kernel(x, a, b).sum()) for x in (1, -1, 2)] == [10.0, 5.0, 10.0]


@pytest.mark.parametrize("function", programs.IN_PLACE, **NAMED)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_computed_arrays_changed_in_place(function: Any, dtype: str) -> None:
    a, out = np.arange(6, dtype=dtype), np.linspace(0, 1, 6)
    assert_like_cpython(function, fw.kernel(function), a, out)


def test_an_array_keeps_its_type_when_it_is_changed_in_place() -> None:
    def function(a):
        y = a * 2
        y += 0.5
        return y

    with pytest.raises(fw.FusewrightError, match="float64 into elements of int64"):
        fw.kernel(function)(np.arange(4))


@pytest.mark.parametrize("function", programs.LIBRARY, **NAMED)
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i1", "u2", "one", "none"])
def test_arrays_that_functions_of_numpy_make(function: Any, kind: str) -> None:
    a = np.random.default_rng(3).normal(size=21) * 3
    if kind in ("one", "none"):
        a = a[: kind == "one"]
    else:
        a = np.abs(a).astype(kind) if kind == "u2" else a.astype(kind)
    if a.size == 0 and function in (programs.middle, programs.middle_of_some):
        pytest.skip("the median of nothing is a warning and nan in NumPy")
    if a.size == 0 and function is programs.joined:
        pytest.skip("a[1:] of nothing")
    kernel = fw.kernel(function)
    for _ in range(2):
        assert_like_cpython(function, kernel, a)


def test_what_is_no_number_is_in_the_middle_and_different_once() -> None:
    a = np.array([3.0, np.nan, 1.0, np.nan, 2.0])
    assert np.isnan(fw.kernel(programs.middle)(a))
    np.testing.assert_array_equal(fw.kernel(programs.different)(a)[0], [1, 2, 3, np.nan])

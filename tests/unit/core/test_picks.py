"""Elements and rows that arrays of integers name, read and written in `_core/picks.c`."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators import begin

import fusewright as fw
from fusewright import _core

pytestmark = pytest.mark.skipif(_core.native is None, reason="the core's own way")

SHAPES = ((700,), (70, 11), (9, 8, 10))
DTYPES = ("f8", "f4", "f2", "i8", "u1", "?", "c16")
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda m: m, "backwards": lambda m: m[::-1], "steps": lambda m: m[::3],
    "turned": lambda m: m.T, "part": lambda m: m[2:, ..., :5], "end": lambda m: m[:0],
}  # fmt: skip
KINDS = ("ours", "plain", "steps", "integer", "list", "column", "i4")


@pytest.fixture(autouse=True)
def _as_users_have_it() -> Iterator[None]:
    with fw.options(small=512, interpret=True):
        begin()
        yield


def both(array: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """NumPy's array and ours."""
    return array.copy(), fw.asarray(array.copy())


def outcome(function: Callable[[], Any]) -> Any:
    """What can be compared of a result, or the class of an error."""
    try:
        value = np.asarray(function())
    except (IndexError, ValueError, TypeError) as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return value.dtype, value.shape, value.tobytes()


def entry(draw: Callable[..., Any], kind: str, many: int, extent: int) -> tuple[Any, Any]:
    """One of a subscript's entries, for NumPy and for ours; sometimes out of bounds."""
    most = max(extent, 1)
    seed, worst = draw(st.integers(0, 99)), draw(st.sampled_from((most - 1, most - 1, most)))
    found = np.random.default_rng(seed).integers(-most, worst + 1, (2 * many,))
    if kind == "integer":
        return int(found[0] if many else 0), int(found[0] if many else 0)
    if kind == "list":
        return found[:many].tolist(), found[:many].tolist()
    if kind == "column":
        return found[:many, None], found[:many, None]
    if kind == "i4":
        return found[:many].astype("i4"), found[:many].astype("i4")
    array = found[::2] if kind == "steps" else found[:many]
    return array, fw.asarray(array.copy()) if kind == "ours" else array


@st.composite
def subscripts(draw: Callable[..., Any], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A subscript for NumPy and the same for ours."""
    many, named = draw(st.sampled_from((0, 1, 2, 5, 300))), draw(st.integers(1, len(shape)))
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(named)]
    pairs = [entry(draw, kind, many, shape[k]) for k, kind in enumerate(kinds)]
    if named == 1 and draw(st.booleans()):
        return pairs[0]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


@st.composite
def cases(draw: Callable[..., Any]) -> tuple[Any, Any, str, tuple[Any, Any], Any]:
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
    theirs, ours = both(np.random.default_rng(0).integers(0, 100, shape).astype(dtype))
    view = draw(st.sampled_from([name for name in VIEWS if name != "part" or len(shape) > 1]))
    key = draw(subscripts(VIEWS[view](theirs).shape))
    return (
        theirs,
        ours,
        view,
        key,
        draw(st.sampled_from(("number", "ours", "plain", "one", "row", "other"))),
    )


@settings(max_examples=400, deadline=None)
@given(cases())
def test_what_is_read(case: Any) -> None:
    theirs, ours, view, (key, our_key), _ = case
    expected = outcome(lambda: VIEWS[view](theirs)[key])
    assert outcome(lambda: VIEWS[view](ours)[our_key]) == expected


def content(what: str, shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """What is written, for NumPy and for ours."""
    values = np.random.default_rng(1).integers(0, 100, shape or (1,)).astype(dtype)
    if what == "number":
        number = values.reshape(-1)[0].item() if values.size else 1
        return number, number
    if what == "one":
        return values.dtype.type(1), fw.asarray(values.dtype.type(1))
    if what == "row":
        return values[..., :1], values[..., :1]
    if what == "other":
        return values.real.astype("u1"), fw.asarray(values.real.astype("u1"))
    return values, fw.asarray(values.copy()) if what == "ours" else values


@settings(max_examples=600, deadline=None)
@given(cases())
def test_what_is_written(case: Any) -> None:
    theirs, ours, view, (key, our_key), what = case
    seen = fw.asarray(theirs.copy())
    ours += seen  # pending or not: what was there before is added up first
    theirs += theirs.copy()
    try:
        shape = VIEWS[view](theirs)[key].shape
    except IndexError:
        shape = (1,)
    value, our_value = content(what, shape, theirs.dtype)
    reads = ours * 1  # of what is there before
    before = (theirs * 1).tobytes()

    def write(array: Any, index: Any, new: Any) -> Any:
        VIEWS[view](array)[index] = new
        return array

    assert outcome(lambda: write(ours, our_key, our_value)) == outcome(
        lambda: write(theirs, key, value)
    )
    assert np.asarray(ours).tobytes() == theirs.tobytes(), "also after an error"
    assert np.asarray(reads).tobytes() == before


def test_the_core_needs_nothing_of_numpys() -> None:
    x, places = fw.asarray(np.arange(1000.0)), np.array([3, -1, 5])
    for found in (x[places], x.reshape(10, 100)[places], x.reshape(10, 100)[places, 4]):
        memory = found._node.value[0]
        assert not isinstance(memory.owner, np.ndarray), "NumPy's result would be adopted"


def test_indices_and_values_that_lie_in_the_array_itself() -> None:
    for make in (lambda a: (a, a), lambda a: (a[:300], a[300:600]), lambda a: (a[::2], a[1::2])):
        theirs, ours = both(np.random.default_rng(2).integers(0, 600, 600))
        key, value = make(theirs)
        our_key, our_value = make(ours)
        theirs[key] = value
        ours[our_key] = our_value
        assert np.asarray(ours).tobytes() == theirs.tobytes()


def test_what_may_not_be_written() -> None:
    x = fw.asarray(np.arange(1000.0))
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x[np.array([1, 2])] = 0.0
    assert x[1] == 1.0

"""Operations on few elements in memory, which the core computes at once (`_core/eager.c`)."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators import begin

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import _core
from fusewright.frontends.arrays import core, trace
from fusewright.ir.graph import LEAF, MAP

pytestmark = pytest.mark.skipif(_core.native is None, reason="the core's own way")

TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "floor": lambda a, b: a // b, "remainder": lambda a, b: a % b,
    "less": lambda a, b: a < b, "equal": lambda a, b: a == b, "and": lambda a, b: a & b,
    "left": lambda a, b: a << b, "right": lambda a, b: a >> b,
}  # fmt: skip
ONE: dict[str, Callable[[Any, Any], Any]] = {
    "negative": lambda x, xp: -x, "absolute": lambda x, xp: abs(x), "square": lambda x, xp: x**2,
    "sqrt": lambda x, xp: xp.sqrt(x), "exp": lambda x, xp: xp.exp(x), "not": lambda x, xp: ~x,
    "floor": lambda x, xp: xp.floor(x), "isnan": lambda x, xp: xp.isnan(x),
}  # fmt: skip
DTYPES = ("f8", "f4", "f2", "i8", "i4", "u1", "u4", "?", "c16", "c8")
VIEWS: dict[str, Callable[[Any], Any]] = {
    "row": lambda m: m[3], "column": lambda m: m[:, 2], "part": lambda m: m[5:9, 1:6],
    "turned": lambda m: m[5:9, 1:6].T, "backwards": lambda m: m[::-1][:4],
    "steps": lambda m: m[::20, ::2], "one row": lambda m: m[4:5], "end": lambda m: m[70:70],
    "last": lambda m: m[..., -1], "flat": lambda m: m.reshape(-1)[:30],
    "one column": lambda m: m[:6, 3:4],
}  # fmt: skip
NUMBERS = (2, 2.5, -1, True, 1j, np.float64(0.5), np.float32(3), np.int64(-2), np.uint8(3), 0, 0.0)


@pytest.fixture(autouse=True)
def _as_users_have_it() -> Iterator[None]:
    with fw.options(small=512, interpret=True):
        begin()
        yield


def base(dtype: str, xp: Any) -> Any:
    """Far more elements than are computed at once, with what arithmetic has of corners."""
    values = np.random.default_rng(0).integers(-120, 120, (70, 60)).astype("f8") / 8
    if np.dtype(dtype).kind in "fc":
        values[3, :5] = np.nan, np.inf, -np.inf, -0.0, 1e300
    with np.errstate(all="ignore"):
        made = values.astype(dtype)
    return xp.asarray(made) if xp is np else fw.asarray(made)


def outcome(function: Callable[[], Any]) -> Any:
    """What can be compared of a result, or of an error."""
    try:
        with np.errstate(all="ignore"):
            value = function()
    except Exception as error:  # noqa: BLE001
        return next(
            kind for kind in type(error).__mro__ if kind.__module__ in ("builtins", "numpy")
        )
    array = np.asarray(value)
    bits = np.where(np.isnan(array), 7, array) if array.dtype.kind in "fc" else array
    signs = np.signbit(bits.real) if array.dtype.kind in "fc" else 0
    return array.dtype, array.shape, value.strides, bits.tolist(), np.asarray(signs).tolist()


@settings(deadline=None)
@given(st.sampled_from(sorted(TWO)), st.sampled_from(DTYPES), st.sampled_from(DTYPES),
       st.sampled_from(sorted(VIEWS)), st.sampled_from(sorted(VIEWS)), st.booleans())  # fmt: skip
def test_two_arrays_are_as_recorded(
    op: str, one: str, two: str, view: str, other: str, alike: bool
) -> None:
    two, other = (one, view) if alike else (two, other)

    def of(xp: Any) -> Any:
        return TWO[op](VIEWS[view](base(one, xp)), VIEWS[other](base(two, xp)))

    with fw.options(small=0):
        recorded = outcome(lambda: of(fnp))
    assert outcome(lambda: of(fnp)) == recorded


@settings(deadline=None)
@given(st.sampled_from(sorted(TWO)), st.sampled_from(DTYPES), st.sampled_from(sorted(VIEWS)),
       st.sampled_from(NUMBERS), st.booleans())  # fmt: skip
def test_an_array_and_a_number_are_as_recorded(
    op: str, dtype: str, view: str, number: Any, left: bool
) -> None:
    def of(xp: Any) -> Any:
        array = VIEWS[view](base(dtype, xp))
        return TWO[op](number, array) if left else TWO[op](array, number)

    with fw.options(small=0):
        recorded = outcome(lambda: of(fnp))
    assert outcome(lambda: of(fnp)) == recorded


@settings(deadline=None)
@given(st.sampled_from(sorted(ONE)), st.sampled_from(DTYPES), st.sampled_from(sorted(VIEWS)))
def test_one_array_is_as_recorded(op: str, dtype: str, view: str) -> None:
    def of(xp: Any) -> Any:
        return ONE[op](VIEWS[view](base(dtype, xp)), xp)

    with fw.options(small=0):
        recorded = outcome(lambda: of(fnp))
    assert outcome(lambda: of(fnp)) == recorded


@pytest.mark.parametrize("view", sorted(VIEWS.keys() - {"end"}))
def test_strides_are_numpys(view: str) -> None:
    for op in ("add", "less"):
        ours, theirs = (VIEWS[view](base("f8", xp)) for xp in (fnp, np))
        assert TWO[op](ours, ours).strides == TWO[op](theirs, theirs).strides


def test_nothing_waits_and_the_result_is_ours() -> None:
    x = base("f8", fnp)
    x[0, 0] = 1.0
    trace.flush()
    for again in range(2):  # the first time Python says what type the result has
        many = x[3] + x[4], x[:, 2] * 2.0, np.float64(2) * x[3], -x[3], x[3] > 0, abs(x[3])
        for result in many:
            assert type(result) in core.handle_classes
            assert not again or result._node.kind == LEAF
    much = x + 1.0  # 4,200 elements
    assert much._node.kind == MAP


def test_what_waits_is_recorded_with_what_reads_it() -> None:
    x = base("f8", fnp)
    waiting = (x + 1.0)[3]
    assert (waiting * 2.0)._node.kind == MAP
    with fw.lazy():
        assert (x[3] * 2.0)._node.kind == MAP


def test_a_result_does_not_see_later_writes() -> None:
    x = base("f8", fnp)
    row = x[2]
    doubled, before = row * 2.0, np.asarray(row) * 2.0
    x[2] = 0.0
    assert (np.asarray(doubled) == before).all()


def test_a_result_is_written_alone() -> None:
    x = base("f8", fnp)
    before = np.asarray(x).copy()
    copy = x[2] + 0.0
    copy[:] = 5.0
    copy += x[3]
    assert np.array_equal(np.asarray(x), before, equal_nan=True)


def test_operands_are_written_with_their_own_values() -> None:
    x = fw.asarray(np.arange(4200.0).reshape(70, 60))
    x[2] += x[3] * 2.0 - x[2]
    x[:, 1] -= x[:, 1] * 0.5
    want = np.arange(4200.0).reshape(70, 60)
    want[2] += want[3] * 2.0 - want[2]
    want[:, 1] -= want[:, 1] * 0.5
    assert (np.asarray(x) == want).all()


def test_jit_records_all_of_it() -> None:
    x = base("f4", fnp)

    @fw.jit
    def function(row: Any) -> Any:
        return row * 2 + row

    with np.errstate(all="ignore"):
        want = np.asarray(x[3]) * 2 + np.asarray(x[3])
    for _ in range(3):
        assert np.array_equal(np.asarray(function(x[3])), want, equal_nan=True)

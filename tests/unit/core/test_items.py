"""Numbers of values that need no computing: what views lead to, ranges, constants and memory are
read at once, as NumPy's numbers; of all other pending values the second read finds memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="of the core")

RANGES: list[tuple[Any, ...]] = [
    (5000,), (3, 5000), (-7, 9000, 3), (9000, -7, -3), (0.1, 400.3, 0.07), (5000.0,),
    (1e300, -1e300, -1e297), (-0.0, 5000.0), (1 << 62, (1 << 62) + 4000),
]  # fmt: skip
DTYPES = [None, "f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda np, x: x,
    "backwards": lambda np, x: x[::-1],
    "steps": lambda np, x: x[3:-5:4][::-2],
    "broadcast": lambda np, x: np.broadcast_to(x, (3, x.size))[1],
    "column": lambda np, x: np.broadcast_to(x[:, None], (x.size, 4))[:, 2],
    "moved": lambda np, x: np.moveaxis(np.broadcast_to(x, (2, x.size)), 0, 1)[::-1, 0],
    "flipped": lambda np, x: np.flip(x)[2:],
}
PENDING: dict[str, Callable[[Any], Any]] = {
    "product": lambda np: np.arange(900.0) * 2,
    "product of views": lambda np: (np.arange(900.0) * 2)[::-1],
    "where": lambda np: np.where(np.arange(900) > 5, 1.0, 2.0),
    "broadcast product": lambda np: np.broadcast_to(np.arange(900.0) * 3, (4, 900))[2],
    "cumsum": lambda np: np.cumsum(np.arange(900.0)),
    "concatenate": lambda np: np.concatenate([np.arange(900.0), np.ones(600)]),
    "eye": lambda np: np.eye(60)[7],
    "full": lambda np: np.full(900, 2.5),
    "arange": lambda np: np.arange(900),
}


def _bits(value: Any) -> tuple[Any, bytes]:
    found = np.asarray(value)
    return found.dtype, found.tobytes()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_ranges(dtype: str | None, view: str) -> None:
    for bounds in RANGES:
        try:
            with np.errstate(all="ignore"):
                stored = np.asarray(fnp.arange(*bounds, dtype=dtype))
        except (OverflowError, TypeError):  # numbers out of the type's range
            continue
        mine = VIEWS[view](fnp, fnp.arange(*bounds, dtype=dtype))
        wanted = VIEWS[view](np, stored)
        for at in (0, 1, 17, len(wanted) // 2, -2, -1):
            assert _bits(mine[at]) == _bits(wanted[at]), (bounds, at)


@pytest.mark.parametrize("made", PENDING)
def test_numbers_read_in_a_loop_enter_no_python(made: str) -> None:
    values, wanted = PENDING[made](fnp), PENDING[made](np)
    entered: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            entered.append(frame.f_code.co_name)

    found = [float(values[i]) for i in range(8)]  # what is asked for again is stored
    sys.setprofile(note)
    try:
        for i in range(8, 50):
            found.append(float(values[i]))
    finally:
        sys.setprofile(None)
    assert found == wanted[:50].tolist()
    assert entered == []


AT_HAND: dict[str, Callable[[Any, Any], Any]] = {
    "difference": lambda np, a: a[3] - a[5],
    "of a product": lambda np, a: 2.0 * a[3] + a[5] * a[7],
    "function": lambda np, a: np.sqrt(abs(a[4])),
    "of columns": lambda np, a: a[:3, 1] / a[2],
    "comparison": lambda np, a: a[4] > 0.5,
    "outer": lambda np, a: a[3][:, None] * a[4],
}


@pytest.mark.parametrize("name", AT_HAND)
def test_small_values_at_hand_are_computed_whole(name: str) -> None:
    """Their elements are NumPy's numbers; with `small=0` everything is recorded as ever."""
    stored = np.random.default_rng(1).random((900, 3))
    ours = fw.asarray(stored)
    for small, kind in ((512, np.generic), (0, fw.Array)):
        with fw.options(small=small):
            value, wanted = AT_HAND[name](fnp, ours), AT_HAND[name](np, stored)
            first = value[(1,) * wanted.ndim]
            assert isinstance(first, kind)
            assert _bits(first) == _bits(wanted[(1,) * wanted.ndim])
            assert _bits(value) == _bits(wanted)


def test_what_is_far_is_not_computed_for_one_element() -> None:
    ours = fw.asarray(np.random.default_rng(1).random((900, 900)))
    far = (ours * 2.0 + 1.0)[5, :100] - 1.0  # of a large pending value
    assert isinstance(far[3], fw.Array)
    assert far[3] == (np.asarray(ours)[5, 3] * 2.0 + 1.0) - 1.0

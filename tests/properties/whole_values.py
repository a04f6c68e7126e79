"""How far a value is defined by NumPy, and how one of ours differs from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.properties.operands import alike

EXACT, SIGNS, CLOSE, OPEN = 0, 1, 2, 3
TYPES = {"f": 1e-3, "d": 1e-9, "e": 0.1, "F": 1e-3, "D": 1e-9}


def compared(got: Any, want: Any, level: int) -> str:
    """How a value of ours differs from NumPy's."""
    if isinstance(want, list):
        pairs = enumerate(zip(got, want, strict=True))
        found = (f"[{n}] {how}" for n, (g, w) in pairs if (how := compared(g, w, level)))
        return next(found, "")
    got, want = np.asarray(got), np.asarray(want)
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{got.dtype}{got.shape} for {want.dtype}{want.shape}"
    if level == OPEN or (level == EXACT and alike(got, want, 0)):
        return ""
    if level == SIGNS and alike(_unsigned(got), _unsigned(want), 0):
        return ""
    if level == CLOSE and _close(got, want):
        return ""
    return f"{_shown(got, want)}"


def _unsigned(value: Any) -> Any:
    """Without the signs of zeros."""
    with np.errstate(all="ignore"):
        return value + 0


def _close(got: Any, want: Any) -> bool:
    room = TYPES.get(want.dtype.char)
    if room is None:
        return bool(np.array_equal(got, want))
    finite = np.isfinite(want) & np.isfinite(got)
    scale = float(abs(want[finite]).max(initial=1.0)) if finite.any() else 1.0
    if want.dtype.kind != "c" and scale < 1e4 and not np.array_equal(np.isnan(got), np.isnan(want)):
        return False
    with np.errstate(all="ignore"):
        near = abs(got.astype("c16") - want.astype("c16")) <= room * max(scale, 1e4)
    return bool((near | ~finite).all())


def _shown(got: Any, want: Any) -> str:
    differs = (got != want) & ~((got != got) & (want != want))
    if want.dtype.kind == "f":
        differs |= (np.signbit(got) != np.signbit(want)) & (want == want)
    places = np.argwhere(differs)
    at = tuple(places[0]) if len(places) else (0,) * want.ndim
    return f"{got[at]} for {want[at]} at {tuple(map(int, at))} ({len(places)} of {want.size})"


def flat(values: list[Any]) -> list[Any]:
    """All of them, those in lists one by one."""
    return [v for value in values for v in (value if isinstance(value, list) else [value])]


def kind(value: Any) -> str:
    return np.asarray(value).dtype.char


def holds_nan(value: Any) -> bool:
    return bool((np.asarray(value) != np.asarray(value)).any())


def is_beyond_floats(value: Any) -> bool:
    """Whether it holds integers that float64 does not."""
    large = np.abs(np.asarray(value).astype(float)) > 2.0**53 if kind(value) in "lqLQ" else False
    return bool(np.any(large))


def size(value: Any) -> int:
    return sum(map(np.size, value)) if isinstance(value, list) else value.size


def content_of(value: Any) -> Any:
    """What tells whether a value has been changed."""
    return len(value) if isinstance(value, list) else np.asarray(value).tobytes()


def roots(value: Any) -> Iterator[Any]:
    """The arrays that own the memory under a value."""
    for item in value if isinstance(value, list) else (value,):
        while getattr(item, "base", None) is not None:
            item = item.base
        if isinstance(item, np.ndarray) and item.flags.writeable:
            yield item


def overlap(left: Any, right: Any) -> bool:
    both = isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
    return both and np.may_share_memory(left, right)

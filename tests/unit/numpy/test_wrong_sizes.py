"""Sizes, counts and axes that make no sense: what NumPy refuses, ours refuses, caught alike.

Ours records: an array is not allocated before it is asked for.  So a size that NumPy has no memory
for may be recorded; one that no array can have is refused at once, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

X = np.arange(600.0).reshape(20, 30)
WRONG = (
    -1, -3, 3.5, -(10**20), 10**20, 2**61, 2**62, 2**63, 2**64, float("nan"), float("inf"), 1e300,
    None, "a", b"x", 1 + 1j, (2, -1), (1.5,), (10**20,), (2**40, 2**40), [[1]], np.float32(2.5),
)  # fmt: skip
RIGHT = (0, 1, 2, True, (), [1], (1, 2), (2, 2, 2), np.int8(3), np.uint8(200))
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "arange(n)": lambda np, x, n: np.arange(n),
    "arange(0, n)": lambda np, x, n: np.arange(0, n),
    "arange(n, 5)": lambda np, x, n: np.arange(n, 5),
    "arange(0, 5, n)": lambda np, x, n: np.arange(0, 5, n),
    "zeros": lambda np, x, n: np.zeros(n),
    "full": lambda np, x, n: np.full(n, 1.0),
    "eye": lambda np, x, n: np.eye(n),
    "linspace(0, 1, n)": lambda np, x, n: np.linspace(0.0, 1.0, n),
    "tile": lambda np, x, n: np.tile(x, n),
    "repeat": lambda np, x, n: np.repeat(x, n),
    "repeat, axis": lambda np, x, n: np.repeat(x, 2, n),
    "reshape": lambda np, x, n: np.reshape(x, n),
    "resize": lambda np, x, n: np.resize(x, n),
    "broadcast_to": lambda np, x, n: np.broadcast_to(x, n),
    "roll": lambda np, x, n: np.roll(x, n),
    "split": lambda np, x, n: np.split(x, n),
    "array_split": lambda np, x, n: np.array_split(x, n),
    "expand_dims": lambda np, x, n: np.expand_dims(x, n),
    "transpose": lambda np, x, n: np.transpose(x, n),
    "flip": lambda np, x, n: np.flip(x, n),
    "sum": lambda np, x, n: np.sum(x, n),
    "cumsum": lambda np, x, n: np.cumsum(x, n),
    "diag": lambda np, x, n: np.diag(x, n),
    "triu": lambda np, x, n: np.triu(x, n),
    "diff": lambda np, x, n: np.diff(x, n),
    "take": lambda np, x, n: np.take(x, n),
    "pad": lambda np, x, n: np.pad(x, n),
    "rot90": lambda np, x, n: np.rot90(x, n),
}
KINDS = (
    TypeError, ValueError, IndexError, OverflowError, MemoryError, ZeroDivisionError,
    AttributeError,
)  # fmt: skip


def outcome(call: Callable[[Any, Any, Any], Any], library: Any, x: Any, n: Any) -> Any:
    """The kinds of the error, or shapes and types of what came back."""
    try:
        found = call(library, x, n)
    except KINDS as error:
        return frozenset(kind for kind in KINDS if isinstance(error, kind))
    parts = found if isinstance(found, list | tuple) else [found]
    return [(np.shape(part), part.dtype) for part in parts]


HUGE = 2**59
NUMPYS_OWN = {
    ("arange(n, 5)", "None"), ("arange(n, 5)", repr(np.uint8(200))),
    ("diag", repr(2**61)), ("resize", repr((2**40, 2**40))),
    *((name, repr(n)) for name in ("tile", "resize", "pad") for n in (np.int8(3), np.uint8(200))),
}  # fmt: skip
"""Where NumPy's answer is an accident: it computes with the small integer it is given, which
overflows, or with a C integer; and `arange(None, 5)`, for None is our default.
"""
MULTIPLY = {"tile", "repeat", "array_split"}
"""What NumPy multiplies a size with, past the largest integer: it then ends the process, or makes a
list as long.
"""


def is_huge(n: Any) -> bool:
    return isinstance(n, int) and n > HUGE


COUNTS = (2**60, 2**61, 2**62, 2**63, 10**20)
ALONG = ((2, 2**61), (2**40, 2**40))


@pytest.mark.parametrize(
    ("name", "n"),
    [(name, n) for name in sorted(MULTIPLY) for n in COUNTS] + [("tile", n) for n in ALONG],
)
def test_what_no_memory_holds_is_refused_at_once(name: str, n: Any) -> None:
    x = fw.asarray(X)
    with fw.options(small=0):
        for _ in range(200):
            CALLS[name](fnp, x, 2)  # calls that the core takes
        with pytest.raises((MemoryError, OverflowError, ValueError)):
            CALLS[name](fnp, x, n)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_refused_alike(name: str) -> None:
    found = []
    for n in (*WRONG, *RIGHT):
        if name == "diff" and is_huge(n):
            continue  # NumPy counts so far
        if name in MULTIPLY and (is_huge(n) or isinstance(n, tuple) or n == 1e300):
            continue
        if (name, repr(n)) in NUMPYS_OWN:
            continue
        theirs = outcome(CALLS[name], np, X, n)
        with fw.options(small=0):
            ours = outcome(CALLS[name], fnp, fw.asarray(X), n)
        lazily = theirs == {MemoryError} and isinstance(ours, list)
        if ours != theirs and not lazily:
            found.append(f"{n!r}: NumPy {theirs}, ours {ours}")
    assert found == []

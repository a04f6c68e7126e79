"""The functions a kernel calls that Python does not have: what they mean to CPython.

Inside a kernel the compiler replaces them; outside, and when the undecorated function runs, these
definitions run.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from fusewright.base.errors import ArgumentError

T = TypeVar("T")

GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""SplitMix64's increment and multipliers (Steele, Lea and Flood 2014; Stafford's variant 13)."""
_WORD = 2**64 - 1


class ndrange:
    """Several ranges at once: `for i, j in fw.ndrange(n, (1, m)):`, the last dim fastest.

    Each argument is a length or a pair (low, high).  `axes` names the dims from the outermost loop
    to the innermost; the values come in the order of the arguments all the same.
    """

    def __init__(self, *dims: Any, axes: Sequence[int] | None = None) -> None:
        pairs = [dim if isinstance(dim, tuple) else (0, dim) for dim in dims]
        self.ranges = tuple(range(operator.index(a), operator.index(b)) for a, b in pairs)
        self.axes = tuple(range(len(dims))) if axes is None else tuple(axes)
        if sorted(self.axes) != list(range(len(dims))):
            raise ArgumentError(f"axes {self.axes} must name each of the {len(dims)} dims once")

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        places = [self.axes.index(dim) for dim in range(len(self.axes))]
        for values in itertools.product(*(self.ranges[axis] for axis in self.axes)):
            yield tuple(values[place] for place in places)


def grouped(space: ndrange) -> Iterator[tuple[int, ...]]:
    """`for I in fw.grouped(fw.ndrange(n, m)): a[I] = 0.0`: the indices as one tuple."""
    return iter(space)


def static(value: T) -> T:
    """A value that is known when the kernel is compiled: part of its key.

    A loop over a static range is written out; a branch on a static condition is decided.
    """
    return value


def nofuse() -> None:
    """Loops before and after stay apart."""


def assume_unique(table: Any) -> None:
    """Say that an array of indices holds no value twice, so that `a[table[i]]` is another element
    in each iteration.  `fw.options(check=True)` looks.
    """


min, max = builtins.min, builtins.max
"""Python's own: `m = fw.max(m, a[i])` in a loop is a reduction, as `m = max(m, a[i])` is."""


def local(shape: int | tuple[int, ...], dtype: Any = np.float64) -> Any:
    """A small array of the kernel's own, filled with zeros; its shape is known when compiled."""
    return np.zeros(shape, dtype)


def vector(*items: Any) -> Any:
    """A small array of these numbers; with tuples of numbers a matrix."""
    return np.array(items)


def _atomic(name: str, combine: Callable[[Any, Any], Any], doc: str) -> Callable[..., Any]:
    def function(array: Any, index: Any, value: Any) -> Any:
        old = array[index]
        array[index] = combine(old, array.dtype.type(value))
        return old

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"`array[index]` becomes {doc}, in one step; the old value is returned.\n\n"
        "    The value is converted to the array's type first."
    )
    return function


atomic_add = _atomic("atomic_add", np.add, "itself plus `value`")
atomic_sub = _atomic("atomic_sub", np.subtract, "itself minus `value`")
atomic_min = _atomic("atomic_min", np.minimum, "the lesser of itself and `value`")
atomic_max = _atomic("atomic_max", np.maximum, "the greater of itself and `value`")
atomic_and = _atomic("atomic_and", np.bitwise_and, "itself & `value`")
atomic_or = _atomic("atomic_or", np.bitwise_or, "itself | `value`")
atomic_xor = _atomic("atomic_xor", np.bitwise_xor, "itself ^ `value`")
ATOMICS: dict[Callable[..., Any], str] = {
    atomic_add: "add",
    atomic_sub: "subtract",
    atomic_min: "minimum",
    atomic_max: "maximum",
    atomic_and: "bitwise_and",
    atomic_or: "bitwise_or",
    atomic_xor: "bitwise_xor",
}


def _mixed(word: int) -> int:
    word = ((word ^ (word >> 30)) * FIRST) & _WORD
    word = ((word ^ (word >> 27)) * SECOND) & _WORD
    return word ^ (word >> 31)


def random(seed: Any, *counters: Any) -> float:
    """A number in [0, 1) that depends on the seed and the counters alone.

    Counters are integers, such as the number of the loop and the indices of its iteration: the same
    ones give the same number, in whatever order and on however many threads.
    """
    word = _mixed((operator.index(seed) + GOLDEN) & _WORD)
    for counter in counters:
        word = _mixed(((word ^ (operator.index(counter) & _WORD)) + GOLDEN) & _WORD)
    return (word >> 11) * 2.0**-53

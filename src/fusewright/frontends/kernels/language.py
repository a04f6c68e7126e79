"""The functions a kernel calls that Python does not have: what they mean to CPython.

Inside a kernel the compiler replaces them; outside, and when the undecorated function runs, these
definitions run.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, SupportsIndex, TypeVar

import numpy as np

from fusewright.base.errors import ArgumentError

T = TypeVar("T")
Extent = SupportsIndex

GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""SplitMix64's increment and multipliers (Steele, Lea and Flood 2014; Stafford's variant 13)."""
_WORD = 2**64 - 1


class ndrange:
    """Several ranges at once: `for i, j in fw.ndrange(n, (1, m)):`, the last dim fastest.

    Each argument is a length or a pair (low, high).  `axes` names the dims from the outermost loop
    to the innermost; the values come in the order of the arguments all the same.

    Raises:
        FusewrightError: where `axes` does not name each dim once.
        TypeError: for a length that is no integer.

    Examples:
        >>> import fusewright as fw
        >>> list(fw.ndrange(2, (1, 3)))
        [(0, 1), (0, 2), (1, 1), (1, 2)]
        >>> list(fw.ndrange(2, (1, 3), axes=(1, 0)))
        [(0, 1), (1, 1), (0, 2), (1, 2)]
    """

    def __init__(
        self, *dims: Extent | tuple[Extent, Extent], axes: Sequence[int] | None = None
    ) -> None:
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
    """`for I in fw.grouped(fw.ndrange(n, m)): a[I] = 0.0`: the indices as one tuple.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def fill(a, value):
        ...     for I in fw.grouped(fw.ndrange(a.shape[0], a.shape[1])):
        ...         a[I] = value
        >>> a = numpy.zeros((2, 2))
        >>> fill(a, 3.0)
        >>> a.tolist()
        [[3.0, 3.0], [3.0, 3.0]]
    """
    return iter(space)


def static(value: T) -> T:
    """A value that is known when the kernel is compiled: part of its key.

    A loop over a static range is written out; a branch on a static condition is decided.

    Raises:
        FusewrightError: when a kernel is compiled whose value is known only when it runs.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def power(a, n):
        ...     for i in range(len(a)):
        ...         product = 1.0
        ...         for _ in fw.static(range(n)):  # n multiplications, and no loop
        ...             product *= a[i]
        ...         a[i] = product
        >>> a = numpy.array([2.0, 3.0])
        >>> power(a, 3)
        >>> a.tolist()
        [8.0, 27.0]
    """
    return value


def nofuse() -> None:
    """Loops before and after stay apart.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def two_passes(a, b):
        ...     for i in range(len(a)):
        ...         b[i] = 2.0 * a[i]
        ...     fw.nofuse()
        ...     for i in range(len(a)):
        ...         b[i] += a[i]
        >>> a, b = numpy.ones(3), numpy.zeros(3)
        >>> two_passes(a, b)
        >>> b.tolist()
        [3.0, 3.0, 3.0]
    """


def assume_unique(table: Any) -> None:
    """Say that an array of indices holds no value twice, so that `a[table[i]]` is another element
    in each iteration: such a loop may run in vectors and on threads.

    Raises:
        FusewrightError: under `fw.options(check=True)`, where a value stands there twice or is
            negative.  Without the check that is undefined.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def scatter(a, table, values):
        ...     fw.assume_unique(table)
        ...     for i in range(len(table)):
        ...         a[table[i]] += values[i]
        >>> a = numpy.zeros(3)
        >>> scatter(a, numpy.array([2, 0]), numpy.array([1.0, 5.0]))
        >>> a.tolist()
        [5.0, 0.0, 1.0]
    """


min, max = builtins.min, builtins.max
"""Python's own: `m = fw.max(m, a[i])` in a loop is a reduction, as `m = max(m, a[i])` is."""


def local(shape: int | tuple[int, ...], dtype: Any = np.float64) -> Any:
    """A small array of the kernel's own, filled with zeros; its shape is known when compiled.

    Raises:
        FusewrightError: when a kernel is compiled whose shape is known only when it runs, or whose
            arrays have more than 64 KiB in all.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def reversed_triples(a):
        ...     for i in range(a.shape[0]):
        ...         kept = fw.local(3)
        ...         kept[:] = a[i]
        ...         for k in range(3):
        ...             a[i, k] = kept[2 - k]
        >>> a = numpy.arange(6.0).reshape(2, 3)
        >>> reversed_triples(a)
        >>> a.tolist()
        [[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]
    """
    return np.zeros(shape, dtype)


def vector(*items: Any) -> Any:
    """A small array of these numbers; with tuples of numbers a matrix.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def weighted(a, out):
        ...     w = fw.vector(0.25, 0.5, 0.25)
        ...     for i in range(1, len(a) - 1):
        ...         out[i] = w[0] * a[i - 1] + w[1] * a[i] + w[2] * a[i + 1]
        >>> a, out = numpy.array([0.0, 4.0, 0.0]), numpy.zeros(3)
        >>> weighted(a, out)
        >>> out.tolist()
        [0.0, 2.0, 0.0]
    """
    return np.array(items)


Atomic = Callable[[Any, Any, Any], Any]


def _updated(array: Any, index: Any, value: Any, combine: Callable[[Any, Any], Any]) -> Any:
    old = array[index]
    array[index] = combine(old, array.dtype.type(value))
    return old


def atomic_add(array: Any, index: Any, value: Any) -> Any:
    """`array[index]` becomes itself plus `value`, in one step; the old value is returned.

    No other iteration comes between reading and storing.  Loops run on threads where no order
    shows: of integers whose old value nobody uses.  The value is converted to the array's type
    first.

    Raises:
        IndexError: for an index out of bounds; in a kernel under `fw.options(check=True)`, and
            without the check that is undefined.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def histogram(counts, keys):
        ...     for i in range(len(keys)):
        ...         fw.atomic_add(counts, keys[i], 1)
        >>> counts = numpy.zeros(3, int)
        >>> histogram(counts, numpy.array([0, 2, 2]))
        >>> counts.tolist()
        [1, 0, 2]
    """
    return _updated(array, index, value, np.add)


def atomic_sub(array: Any, index: Any, value: Any) -> Any:
    """`array[index]` becomes itself minus `value`, in one step; the old value is returned.

    Raises:
        IndexError: as `atomic_add`.

    Examples:
        >>> import numpy, fusewright as fw
        >>> a = numpy.array([12, 0])
        >>> old = fw.atomic_sub(a, 0, 10)
        >>> int(old), a.tolist()
        (12, [2, 0])
    """
    return _updated(array, index, value, np.subtract)


def atomic_min(array: Any, index: Any, value: Any) -> Any:
    """`array[index]` becomes the lesser of itself and `value`, in one step; returns the old value.

    Raises:
        IndexError: as `atomic_add`.

    Examples:
        >>> import numpy, fusewright as fw
        >>> a = numpy.array([12, 0])
        >>> old = fw.atomic_min(a, 0, 10)
        >>> int(old), a.tolist()
        (12, [10, 0])
    """
    return _updated(array, index, value, np.minimum)


def atomic_max(array: Any, index: Any, value: Any) -> Any:
    """`array[index]` becomes the greater of itself and `value`, in one step; returns the old value.

    Raises:
        IndexError: as `atomic_add`.

    Examples:
        >>> import numpy, fusewright as fw
        >>> a = numpy.array([12, 0])
        >>> old = fw.atomic_max(a, 0, 15)
        >>> int(old), a.tolist()
        (12, [15, 0])
    """
    return _updated(array, index, value, np.maximum)


def atomic_and(array: Any, index: Any, value: Any) -> Any:
    """`array[index]` becomes itself & `value`, in one step; the old value is returned.

    Raises:
        IndexError: as `atomic_add`.

    Examples:
        >>> import numpy, fusewright as fw
        >>> a = numpy.array([12, 0])
        >>> old = fw.atomic_and(a, 0, 10)
        >>> int(old), a.tolist()
        (12, [8, 0])
    """
    return _updated(array, index, value, np.bitwise_and)


def atomic_or(array: Any, index: Any, value: Any) -> Any:
    """`array[index]` becomes itself | `value`, in one step; the old value is returned.

    Raises:
        IndexError: as `atomic_add`.

    Examples:
        >>> import numpy, fusewright as fw
        >>> a = numpy.array([12, 0])
        >>> old = fw.atomic_or(a, 0, 10)
        >>> int(old), a.tolist()
        (12, [14, 0])
    """
    return _updated(array, index, value, np.bitwise_or)


def atomic_xor(array: Any, index: Any, value: Any) -> Any:
    """`array[index]` becomes itself ^ `value`, in one step; the old value is returned.

    Raises:
        IndexError: as `atomic_add`.

    Examples:
        >>> import numpy, fusewright as fw
        >>> a = numpy.array([12, 0])
        >>> old = fw.atomic_xor(a, 0, 10)
        >>> int(old), a.tolist()
        (12, [6, 0])
    """
    return _updated(array, index, value, np.bitwise_xor)


ATOMICS: dict[Atomic, str] = {
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

    Raises:
        TypeError: for a seed or a counter that is no integer.

    Examples:
        >>> import numpy, fusewright as fw
        >>> @fw.kernel
        ... def noise(a, seed):
        ...     for i in range(len(a)):
        ...         a[i] = fw.random(seed, i)
        >>> a = numpy.zeros(3)
        >>> noise(a, 7)
        >>> a.tolist() == [fw.random(7, i) for i in range(3)]
        True
    """
    word = _mixed((operator.index(seed) + GOLDEN) & _WORD)
    for counter in counters:
        word = _mixed(((word ^ (operator.index(counter) & _WORD)) + GOLDEN) & _WORD)
    return (word >> 11) * 2.0**-53

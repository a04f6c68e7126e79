"""NumPy's functions that make arrays of one dim, written in the language of kernels and inlined
where one calls them.  What has as many elements as the content says is a part of an array with
room for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def diff(a: Any) -> Any:
    """`np.diff(a)`."""
    return a[1:] - a[:-1]


def cumulative_sum(a: Any, out: Any) -> Any:
    """`np.cumsum(a)`: from left to right, as NumPy adds it, into an array of its type."""
    total = out.dtype.type(0)
    for i in range(len(a)):
        if i == 0:
            total = out.dtype.type(a[i])
        else:
            total += a[i]
        out[i] = total
    return out


def places_of(a: Any) -> Any:
    """`np.flatnonzero(a)`."""
    out = np.empty(len(a), np.int64)
    count = 0
    for i in range(len(a)):
        if a[i] != 0:
            out[count] = i
            count += 1
    return out[:count]


def selected(a: Any, mask: Any) -> Any:
    """`a[mask]`."""
    out = np.empty_like(a)
    count = 0
    for i in range(len(a)):
        if mask[i]:
            out[count] = a[i]
            count += 1
    return out[:count]


def unique(a: Any) -> Any:
    """`np.unique(a)`: of numbers that are none, one stays."""
    out = np.sort(a)
    count = 0
    for i in range(len(a)):
        new = i == 0
        if i > 0:
            new = out[i] != out[count - 1] and (out[i] == out[i] or out[i - 1] == out[i - 1])
        if new:
            out[count] = out[i]
            count += 1
    return out[:count]


def median(a: Any) -> Any:
    """`np.median(a)`: the mean of the one or two in the middle, in NumPy's steps."""
    ordered = np.sort(a)
    n = len(a)
    middle = n // 2
    found = ordered[middle] / 1
    if n % 2 == 0:
        found = (ordered[middle - 1] / 1 + found) / 2
    if ordered[n - 1] != ordered[n - 1]:
        found = ordered[n - 1] / 1
    return found


def put(out: Any, first: int, a: Any) -> None:
    """The elements of one array behind one another in another."""
    for i in range(len(a)):
        out[first + i] = a[i]


def linspace(start: Any, stop: Any, num: Any) -> Any:
    """`np.linspace(start, stop, num)`, in NumPy's steps."""
    out = np.empty(num)
    steps = num - 1
    distance = stop - start
    for i in range(num):
        moved = i * distance
        if steps > 0:
            step = distance / steps
            moved = i * step if step != 0 else i / steps * distance
        out[i] = moved + start
        if i > 0 and i == steps:
            out[i] = stop
    return out

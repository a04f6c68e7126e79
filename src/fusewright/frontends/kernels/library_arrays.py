"""NumPy's functions that make arrays of one dim, written in the language of kernels and inlined
where one calls them.  What has as many elements as the content says is a part of an array with
room for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np


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


def cumulative_product(a: Any, out: Any) -> Any:
    """`np.cumprod(a)`: from left to right, into an array of its type."""
    total = out.dtype.type(1)
    for i in range(len(a)):
        total *= a[i]
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


def interpolated(x: float, xp: Any, fp: Any, left: float, right: float) -> float:
    """`np.interp` of one number, in NumPy's steps."""
    n = len(xp)
    found = x
    if n == 1:
        found = left if x < xp[0] else right if x > xp[0] else fp[0]
    elif x == x:
        low = 0
        high = n
        while low < high:
            middle = (low + high) // 2
            if x >= xp[middle]:
                low = middle + 1
            else:
                high = middle
        j = low - 1
        if j < 0:
            found = left
        elif j == n - 1:
            found = right if x > xp[j] else fp[j]
        elif xp[j] == x:
            found = fp[j]
        else:
            slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])
            found = slope * (x - xp[j]) + fp[j]
            if found != found:
                found = slope * (x - xp[j + 1]) + fp[j + 1]
                if found != found and fp[j] == fp[j + 1]:
                    found = fp[j]
    return found


def occurrences(a: Any, out: Any, weights: Any) -> Any:
    """`np.bincount(a)` into an array of zeros."""
    for i in range(len(a)):
        out[a[i]] += weights[i]
    return out


def greatest(a: Any, least: int) -> int:
    """One more than the greatest number, or `least` if that is more."""
    most = least
    for x in a:
        if x < 0:
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(x) + 1)
    return most

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


def nanmedian(a: Any) -> Any:
    """`np.nanmedian(a)`."""
    kept = np.empty(len(a), a.dtype)
    n = 0
    for i in range(len(a)):
        if a[i] == a[i]:
            kept[n] = a[i]
            n += 1
    ordered = np.sort(kept[:n])
    found = np.nan * a[:1].sum() if n == 0 else ordered[n // 2] / 1
    if n > 0 and n % 2 == 0:
        found = (ordered[n // 2 - 1] / 1 + found) / 2
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


def interpolated(x: Any, xp: Any, fp: Any, left: float, right: float, out: Any) -> Any:
    """`np.interp`, in NumPy's steps: each search begins near the one before it."""
    n = len(xp)
    j = 0
    for k in range(len(x)):
        number = float(x[k])
        found = number
        if n == 1:
            found = left if number < xp[0] else right if number > xp[0] else fp[0]
        elif number == number:
            j = place_from(xp, number, j)
            if j == -1:
                found = left
            elif j == n:
                found = right
            elif j == n - 1 or xp[j] == number:
                found = fp[j]
            else:
                slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])
                found = slope * (number - xp[j]) + fp[j]
                if found != found:
                    found = slope * (number - xp[j + 1]) + fp[j + 1]
                    if found != found and fp[j] == fp[j + 1]:
                        found = fp[j]
        out[k] = found
    return out


NEAR = 8
"""How far from a guess NumPy looks first."""


def place_from(a: Any, key: float, guess: int) -> int:
    """The last place whose number is at most `key`: -1 before all, `len(a)` behind the last."""
    n = len(a)
    low, high = 0, n
    if key > a[n - 1]:
        low = n + 1
        high = n + 1
    elif key < a[0]:
        high = 0
    elif n <= 4:
        low = 1
        while low < n and key >= a[low]:
            low += 1
        high = low
    else:
        guess = max(min(guess, n - 3), 1)
        if key < a[guess]:
            if key < a[guess - 1]:
                high = guess - 1
                if guess > NEAR and key >= a[guess - NEAR]:
                    low = guess - NEAR
            else:
                low = guess
                high = guess
        elif key < a[guess + 1]:
            low = guess + 1
            high = guess + 1
        elif key < a[guess + 2]:
            low = guess + 2
            high = guess + 2
        else:
            low = guess + 2
            if guess < n - NEAR - 1 and key < a[guess + NEAR]:
                high = guess + NEAR
    while low < high:
        middle = low + ((high - low) >> 1)
        if key >= a[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1


def shares(a: Any, q: Any, whole: float, out: Any) -> Any:
    """`np.percentile` and `np.quantile` of sorted numbers: between neighbours on a line, in NumPy's
    steps; `q` counts up to `whole`.
    """
    last = len(a) - 1
    for k in range(len(q)):
        share = q[k] / whole
        if not 0 <= share <= 1:
            raise ValueError("Percentiles must be in the range [0, 100], quantiles in [0, 1]")
        place = last * share
        here = min(int(place), last)
        after = min(here + 1, last)
        rest = place - here
        apart = a[after] - a[here]
        found = a[here] + apart * rest
        if rest >= 0.5:
            found = a[after] - apart * (1 - rest)
        if a[last] != a[last]:
            found = a[last]
        out[k] = found
    return out


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

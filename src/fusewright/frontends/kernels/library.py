"""What NumPy's library does with one dim, and Python with integers, written in the language of
kernels and inlined where one calls it: searching and sorting, powers modulo a number.

Sorting is the same whatever the algorithm, but for equal numbers that can be told apart: `argsort`
keeps their order (NumPy's `kind="stable"`), and zeros of both signs may come in any.
"""

from __future__ import annotations

from typing import Any


def before(x: Any, y: Any) -> bool:
    """The order of NumPy's sorting: what is not a number comes last."""
    return bool(x < y or (y != y and x == x))


def search_each(a: Any, v: Any, out: Any, right: bool) -> Any:
    """`np.searchsorted` of several numbers: each search begins where the one before it ended, as in
    NumPy, which shows where `a` is not sorted.
    """
    low = 0
    high = len(a)
    for k in range(len(v)):
        key = v[k]
        last = v[max(k - 1, 0)]
        ahead = before(last, key)
        if right:
            ahead = not before(key, last)
        if ahead:
            high = len(a)
        else:
            low = 0
            high = min(high + 1, len(a))
        while low < high:
            middle = (low + high) // 2
            passed = before(a[middle], key)
            if right:
                passed = not before(key, a[middle])
            if passed:
                low = middle + 1
            else:
                high = middle
        out[k] = low
    return out


def binned(a: Any, v: Any, out: Any, right: bool) -> Any:
    """`np.digitize` of bins that grow, or shrink."""
    n = len(a)
    way = 0
    for i in range(n - 1):
        if a[i + 1] < a[i] or a[i + 1] > a[i]:
            here = 1 if a[i + 1] > a[i] else -1
            if way != 0 and way != here:
                raise ValueError("bins must be monotonically increasing or decreasing")
            way = here
    if way == -1:
        search_each(a[::-1], v, out, right)
        for k in range(len(v)):
            out[k] = n - out[k]
    else:
        search_each(a, v, out, right)
    return out


def sort(a: Any) -> None:
    """A heap: the largest of what is left goes to the end."""
    n = len(a)
    for turn in range(n // 2 + n):
        root = n // 2 - 1 - turn
        size = n
        if turn >= n // 2:
            size = n - 1 - (turn - n // 2)
            root = 0
            last = a[size]
            a[size] = a[0]
            a[0] = last
        moved = a[root]
        child = 2 * root + 1
        while child < size:
            if child + 1 < size and before(a[child], a[child + 1]):
                child += 1
            if not before(moved, a[child]):
                break
            a[root] = a[child]
            root = child
            child = 2 * root + 1
        if size > 0:
            a[root] = moved


def argsort(a: Any, places: Any, other: Any) -> None:
    """Sorted runs are merged, twice as long each time."""
    n = len(a)
    for i in range(n):
        places[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            left = start
            right = middle
            for k in range(start, end):
                first = left < middle
                if first and right < end:
                    first = not before(a[places[right]], a[places[left]])
                if first:
                    other[k] = places[left]
                    left += 1
                else:
                    other[k] = places[right]
                    right += 1
        for i in range(n):
            places[i] = other[i]
        width *= 2


def times_modulo(a: int, b: int, modulus: int) -> int:
    """`a * b % modulus` of numbers from 0 to below the modulus, whose product may not fit."""
    if modulus <= 3037000500:  # the square of what is below fits into 63 bits
        return a * b % modulus
    total = 0
    while b > 0:
        if b & 1:
            total = total - (modulus - a) if total >= modulus - a else total + a
        a = a - (modulus - a) if a >= modulus - a else a + a
        b >>= 1
    return total


def inverse_modulo(a: int, modulus: int) -> int:
    """The number whose product with a leaves 1 (Euclid's algorithm)."""
    old, rest = a, modulus
    found, other = 1, 0
    while rest != 0:
        quotient = old // rest
        left = old - quotient * rest
        old = rest
        rest = left
        following = found - quotient * other
        found = other
        other = following
    if old != 1 and modulus != 1:
        raise ValueError("base is not invertible for the given modulus")
    return found % modulus


def power_modulo(base: int, exponent: int, modulus: int) -> int:
    """`pow(base, exponent, modulus)` of integers."""
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    size = modulus if modulus > 0 else -modulus
    square = base % size
    left = exponent
    if exponent < 0:
        square = inverse_modulo(square, size)
        left = -exponent
    result = 1 % size
    while left > 0:
        if left & 1:
            result = times_modulo(result, square, size)
        square = times_modulo(square, square, size)
        left >>= 1
    if modulus < 0 and result > 0:
        result += modulus
    return result

"""What NumPy does with one dim, written in the language of kernels and inlined where one calls it:
its order of summing floats, and its least and greatest numbers.

Up to 128 numbers go into eight sums; longer rows are halved, at a multiple of eight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DEEPEST = 65
"""Halvings: more than there can be, and so many that a loop clears the arrays."""
BUFFER = 8192
"""Elements of NumPy's buffers (`np.getbufsize()`), as they are filled since NumPy 2.3."""


def pairwise_sum(a: Any, count: int, kind: Any, left: Any, rest: Any) -> Any:
    """The sum of `count` numbers, added as `kind`.

    `rest` holds the lengths of second halves that wait, 0 for the one being summed, and `left` the
    sums of the first halves of those.
    """
    depth = 0
    start = 0
    total = kind(0)
    while start < count:
        length = int(rest[depth - 1]) if depth > 0 else count
        if depth > 0:
            left[depth - 1] = total
            rest[depth - 1] = 0
        while length > 128:
            half = length // 2
            half -= half % 8
            rest[depth] = length - half
            depth += 1
            length = half
        total = eight_sums(a, start, length, kind)
        start += length
        while depth > 0 and rest[depth - 1] == 0:
            depth -= 1
            total = left[depth] + total
    return kind(0) + total


def side_by_side(a: Any, count: int, kind: Any, left: Any, rest: Any, inner: int, own: Any) -> Any:
    """The sum of `count` numbers, `inner` such sums side by side: one after the other, but where
    there is only one.
    """
    total = own(0)
    if inner == 1:
        total = own(pairwise_sum(a, count, kind, left, rest))
    else:
        for i in range(count):
            total += a[i]
    return total


def sum_of_rows(
    flat: Any, rows: int, count: int, together: bool, kind: Any, left: Any, rest: Any
) -> Any:
    """The sum of `rows` of `count` numbers each.  Rows that lie apart are copied into a buffer, as
    many whole ones as it holds, and those are one row.
    """
    total = kind(0)
    if together:
        total = pairwise_sum(flat, rows * count, kind, left, rest)
    elif count > 0:
        several = max(1, BUFFER // count)
        for first in range(0, rows, several):
            end = min(first + several, rows)
            part = flat[first * count : end * count]
            total += pairwise_sum(part, (end - first) * count, kind, left, rest)
    return total


def eight_sums(a: Any, start: int, count: int, kind: Any) -> Any:
    """The sum of at most 128 numbers."""
    total = kind(0)
    done = 0
    if count >= 8:
        s0, s1, s2, s3 = kind(0), kind(0), kind(0), kind(0)
        s4, s5, s6, s7 = kind(0), kind(0), kind(0), kind(0)
        done = count - count % 8
        for i in range(start, start + done, 8):
            s0 += kind(a[i])
            s1 += kind(a[i + 1])
            s2 += kind(a[i + 2])
            s3 += kind(a[i + 3])
            s4 += kind(a[i + 4])
            s5 += kind(a[i + 5])
            s6 += kind(a[i + 6])
            s7 += kind(a[i + 7])
        total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for i in range(start + done, start + count):
        total += kind(a[i])
    return total


def argmin(a: Any) -> Any:
    """The place of the first of the least numbers, or of the first that is none."""
    best, place = a[0], 0
    for i in range(1, len(a)):
        if best == best and not a[i] >= best:
            best, place = a[i], i
    return np.int64(place)


def argmax(a: Any) -> Any:
    """The place of the first of the greatest numbers, or of the first that is none."""
    best, place = a[0], 0
    for i in range(1, len(a)):
        if best == best and not a[i] <= best:
            best, place = a[i], i
    return np.int64(place)

"""NumPy's order of summing floats, written in the language of kernels: it is inlined where a kernel
calls `np.sum` of one dim.

Up to 128 numbers go into eight sums; longer rows are halved, at a multiple of eight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.frontends.kernels.language import local

DEEPEST = 64
"""Halvings."""


def pairwise_sum(a: Any, count: int, kind: Any) -> Any:
    """The sum of `count` numbers, added as `kind`: `left` holds the sums of first halves that wait
    for their second one, `rest` the lengths of these.
    """
    left = local(DEEPEST, kind)
    rest = local(DEEPEST, np.int64)
    is_second = local(DEEPEST, np.bool_)
    depth = 0
    start = 0
    total = kind(0)
    todo = True
    while todo:
        while count > 128:
            half = count // 2
            half -= half % 8
            rest[depth] = count - half
            is_second[depth] = False
            depth += 1
            count = half
        total = eight_sums(a, start, count, kind)
        start += count
        while depth > 0 and is_second[depth - 1]:
            depth -= 1
            total = left[depth] + total
        if depth > 0:
            left[depth - 1] = total
            is_second[depth - 1] = True
            count = int(rest[depth - 1])
        else:
            todo = False
    return kind(0) + total


def eight_sums(a: Any, start: int, count: int, kind: Any) -> Any:
    """The sum of at most 128 numbers."""
    total = kind(0)
    done = 0
    if count >= 8:
        sums = local(8, kind)
        for k in range(8):
            sums[k] = kind(a[start + k])
        done = count - count % 8
        for i in range(8, done, 8):
            for k in range(8):
                sums[k] += kind(a[start + i + k])
        low = (sums[0] + sums[1]) + (sums[2] + sums[3])
        total = low + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    for i in range(done, count):
        total += kind(a[start + i])
    return total

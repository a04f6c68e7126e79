"""What a product of matrices means, to the bit (decision 0043): the reference, run by NumPy.

    s[c] = 0;  for k of chunk c, ascending:  s[c] = fma(a[i, k], b[k, j], s[c])
    out[i, j] = ((s[0] + s[1]) + s[2]) + ...

Theorem (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1, with one
rounding for each fused step): |out - exact| <= gamma(depth) * sum |a[i, k]| |b[k, j]|, with
gamma(n) = n u / (1 - n u) and u the unit roundoff, where nothing under- or overflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.ir.fused import Array, fma

CHUNK = 512
"""Successive k's of one accumulator.  It decides bits, so it is the same on all machines: long
enough to hide that a chunk's sum is added to memory, short enough for a panel of a chunk to stay in
the second-level cache.
"""


def product(a: Any, b: Any) -> Array:
    """`a @ b` of float32 or float64 arrays (..., m, k) and (..., k, n), whose leading dims
    broadcast: (..., m, n).

    The sign and payload of a NaN are not specified.
    """
    a, b = np.asarray(a), np.asarray(b)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*batch, a.shape[-2], b.shape[-1]), a.dtype)
    for start in range(0, a.shape[-1], CHUNK):
        part = np.zeros_like(total)
        for k in range(start, min(start + CHUNK, a.shape[-1])):
            part = fma(a[..., :, k, None], b[..., None, k, :], part)
        with np.errstate(all="ignore"):
            total = part if start == 0 else total + part
    return total


def depth(k: int) -> int:
    """Roundings of one element, at most: those of a chunk, and of the sums of chunks."""
    return min(k, CHUNK) + max(-(-k // CHUNK) - 1, 0)

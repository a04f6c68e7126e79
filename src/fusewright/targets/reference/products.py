"""Products of matrices by their meaning, run by NumPy one k at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.ir.fused import Array, fma
from fusewright.ir.products import CHUNK

MOST = 1 << 24
"""Multiplications that are done one k at a time (about half a second); NumPy's BLAS computes larger
products, within the error bound of `ir.products.depth`.
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

"""Products of matrices by their meaning, run by NumPy one k at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.ir import bfloat16
from fusewright.ir.dtypes import BFLOAT16, DType
from fusewright.ir.fused import Array, flushed, fma, fma_flushed
from fusewright.ir.products import CHUNK, PAIRED

MOST = 1 << 24
"""Multiplications that are done one k at a time (about half a second); NumPy's BLAS computes larger
products, within the error bound of `ir.products.depth`.
"""


def large_product(a: Any, b: Any, result: DType) -> Array:
    """The same by NumPy's BLAS, in its order."""
    if a.dtype != bfloat16.STORED:
        wide: Array = np.matmul(a, b)
        return wide
    return _narrowed(np.matmul(bfloat16.widened(a), bfloat16.widened(b)), result)


def product(a: Any, b: Any, result: DType = BFLOAT16) -> Array:
    """`a @ b` of float32, float64 or bfloat16 arrays (..., m, k) and (..., k, n), whose leading
    dims broadcast: (..., m, n).  That of bfloat16 is of the type `result`, which may be float32.

    The sign and payload of a NaN are not specified; in bfloat16 each is the same one.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype == bfloat16.STORED:
        return _narrowed(_paired(bfloat16.widened(a), bfloat16.widened(b)), result)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*batch, a.shape[-2], b.shape[-1]), a.dtype)
    for start in range(0, a.shape[-1], CHUNK):
        part = np.zeros_like(total)
        for k in range(start, min(start + CHUNK, a.shape[-1])):
            part = fma(a[..., :, k, None], b[..., None, k, :], part)
        with np.errstate(all="ignore"):
            total = part if start == 0 else total + part
    return total


def _paired(a: Array, b: Array) -> Array:
    """The same of bfloat16, widened before, in float32."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    missing = -a.shape[-1] % PAIRED
    a = flushed(np.pad(a, [(0, 0)] * (a.ndim - 1) + [(0, missing)]))
    b = flushed(np.pad(b, [(0, 0)] * (b.ndim - 2) + [(0, missing), (0, 0)]))
    total = np.zeros((*batch, a.shape[-2], b.shape[-1]), np.float32)
    for start in range(0, a.shape[-1], PAIRED):
        halves = [np.zeros_like(total), np.zeros_like(total)]
        for k in range(start, start + PAIRED):
            half = halves[k % 2]
            halves[k % 2] = fma_flushed(a[..., :, k, None], b[..., None, k, :], half)
        with np.errstate(all="ignore"):
            total = flushed(total + flushed(halves[0] + halves[1]))
    return total


def _narrowed(total: Array, result: DType) -> Array:
    if result is not BFLOAT16:
        return total
    return bfloat16.narrowed(np.where(np.isnan(total), np.float32(np.nan), total))

"""Products of matrices: which are compiled, and what decides their bits (decision 0043).

    s[c] = 0;  for k of chunk c, ascending:  s[c] = fma(a[i, k], b[k, j], s[c])
    out[i, j] = ((s[0] + s[1]) + s[2]) + ...

bfloat16 is multiplied as the tile registers of processors do (AMX), which others reproduce:

    for each block of 32 k's, ascending; numbers that are missing in the last one are 0:
        even = fma chain over its even k's from +0, odd = over its odd k's, in float32
        sum = sum + (even + odd)
    out[i, j] = sum, rounded to bfloat16, or in float32 if the node has that type

There denormal numbers are 0 wherever they go in or come out, with their sign.

The roles of a PRODUCT node are two words, a letter for each dim of an operand: `b` a stack of
products (broadcast as in NumPy), `m` rows, `n` columns, `k` what is summed.  The result has the
dims `b`, `m`, `n`.
"""

from __future__ import annotations

from math import prod

from fusewright.ir.dtypes import BFLOAT16, FLOAT32, FLOAT64, DType
from fusewright.ir.graph import PRODUCT, Node

CHUNK = 512
"""Successive k's of one accumulator.  It decides bits, so it is the same on all machines: long
enough to hide that a chunk's sum is added to memory, short enough for a panel of a chunk to stay in
the second-level cache.
"""
PAIRED = 32
"""Successive k's of a block of bfloat16: 16 pairs, the row of a tile register.  It decides bits."""
DEEP = 4 * CHUNK
"""The same of bfloat16 with a result of float32.  It decides no bits."""
DTYPES = (FLOAT32, FLOAT64, BFLOAT16)
SIDE = 128
"""The least extent of a product that is compiled: NumPy's BLAS is as good at thinner ones."""
TALL, THIN = 4096, 32
"""But `THIN` columns and k's suffice for so many rows, in all products of a stack: there fusing
gains (decision 0045).
"""
LEAST = 1 << 22
"""Multiplications of a product from which it is: smaller ones are computed at once, by NumPy."""
LANES = 6
"""The largest extent of the products in stacks that are compiled, one product in each lane; stacks
of others, up to the size above, are NumPy's.
"""


def chunk_of(dtype: DType, result: DType, k: int) -> int:
    """Of so many k's, those that are added up before the result is touched.  Sums of bfloat16 are
    taken up again from a result of float32; once they are rounded that cannot be.
    """
    if dtype is not BFLOAT16:
        return CHUNK
    return DEEP if result is FLOAT32 else max(k, 1)


def depth(k: int) -> int:
    """Roundings of one element of float32 or float64, at most: those of a chunk, and of the sums of
    chunks.

    Theorem (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1, with one
    rounding for each fused step): |out - exact| <= gamma(depth) * sum |a[i, k]| |b[k, j]|, with
    gamma(n) = n u / (1 - n u) and u the unit roundoff, where nothing under- or overflows.
    """
    return min(k, CHUNK) + max(-(-k // CHUNK) - 1, 0)


def is_compiled(left: Node, right: Node) -> bool:
    """Whether `left @ right` of matrices (or stacks of them) is a PRODUCT: by dtypes and shapes
    alone, so that bits depend on nothing else.
    """
    if left.dtype is not right.dtype or left.dtype not in DTYPES:
        return False
    if len(left.shape) < 2 or len(right.shape) < 2:
        return False
    m, k = left.shape[-2:]
    n = right.shape[-1]
    if max(m, k, n) <= LANES:  # LEAST as in `frontends.arrays.linalg`
        return prod(left.shape) * prod(right.shape[1:]) > LEAST
    thin = THIN if prod(left.shape[:-1]) >= TALL else SIDE
    return m >= SIDE and min(k, n) >= thin and m * k * n > LEAST


def multiplied(
    name: str, left: Node, right: Node, batch: tuple[int, ...], dtype: DType | None = None
) -> Node:
    """The PRODUCT of (..., m, k) and (..., k, n), of the operands' type unless another is given."""
    roles = tuple(
        "b" * (len(node.shape) - 2) + ends for node, ends in ((left, "mk"), (right, "kn"))
    )
    shape = (*batch, left.shape[-2], right.shape[-1])
    return Node(PRODUCT, name, (left, right), dtype or left.dtype, shape, roles)


def operations(node: Node) -> int:
    """Multiplications of a PRODUCT."""
    return prod(node.shape) * node.args[0].shape[-1]

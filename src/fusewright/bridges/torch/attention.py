"""Scaled dot-product attention: two products with softmax between them, which the planner runs
block of rows by block of rows.

Rows whose keys are all masked give zeros, as torch's do.
"""

from __future__ import annotations

from math import inf, prod, sqrt
from typing import Any

from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.bridges.torch.matrices import is_ours, product
from fusewright.ir.dtypes import BOOL, INT64, DType
from fusewright.ir.graph import IOTA, Node, scalar

Shape = tuple[int, ...]


LONGEST = 4096
"""Keys of a row: longer rows leave the second-level cache, where they stay whole."""
MOST = 1 << 26
"""Scores in all: before the code that fuses is there, they are in memory."""


def is_faster(query: Shape, key: Shape, dtype: DType) -> bool:
    """Whether attention is faster as ours: where both products are, and rows stay in the cache."""
    if len(query) != 4 or query[0] != key[0] or not key[1] or query[1] % key[1]:
        return False
    scores = (*query[:3], key[2])
    first = is_ours((query, (*query[:2], query[3], key[2])), dtype)
    second = is_ours((scores, (*query[:2], *key[2:])), dtype)
    return first and second and key[2] <= LONGEST and prod(scores) <= MOST


def attention(
    call: AtenCall,
    query: Node,
    key: Node,
    value: Node,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Node | None = None,
    scale: float | None = None,
) -> tuple[Node, Node]:
    """`softmax(query @ key.T * scale + mask) @ value`, and the logarithms of the sums.

    Queries of several heads that share keys are a dim of their own.
    """
    if dropout:
        raise Declined("dropout is torch's")
    heads = key.shape[1]
    query, key, value = (_grouped(each, heads) for each in (query, key, value))
    scale = 1 / sqrt(query.shape[-1]) if scale is None else scale
    turned = nodes.permuted(key, (0, 1, 2, 4, 3))
    scores = nodes.mapped("multiply", product(call, query, turned), call.constant(scale))
    if attn_mask is not None:
        mask = call.operand(attn_mask)
        mask = _grouped(mask, heads) if len(mask.shape) == 4 else mask
        scores = nodes.mapped("add", scores, mask)
    if is_causal:
        scores = nodes.mapped("where", _seen(*scores.shape[-2:]), scores, call.constant(-inf))
    powers, most, total = powers_of(call, scores, (4,))
    weights = nodes.mapped("divide", powers, total)
    made = product(call, weights, value)
    sums = nodes.mapped("add", most, nodes.mapped("log", total))
    return nodes.reshaped(made, call.shape), nodes.reshaped(sums, call.shape[:-1])


def _grouped(x: Node, heads: int) -> Node:
    """(batch, heads of queries, ...) as (batch, heads of keys, queries of each, ...)."""
    batch, count, *rest = x.shape
    if count == 1:
        return nodes.reshaped(x, (batch, 1, 1, *rest))
    return nodes.reshaped(x, (batch, heads, count // heads, *rest))


def powers_of(call: AtenCall, x: Node, axes: Shape) -> tuple[Node, Node, Node]:
    """`exp(x - max)`, the largest and the sum; where all are -inf: zeros, 0 and 1."""
    most, zero = nodes.reduced("max", x, axes, True), call.constant(0)
    masked = nodes.compared("equal", most, call.constant(-inf))
    most = nodes.mapped("where", masked, zero, most)
    powers = nodes.mapped("exp", nodes.mapped("subtract", x, most))
    total = nodes.reduced("sum", powers, axes, True)
    return powers, most, nodes.mapped("where", masked, call.constant(1), total)


def safe_softmax(call: AtenCall, x: Node, dim: int, dtype: Any = None) -> Node:
    """Softmax that is zero where all of a row is -inf."""
    powers, _, total = powers_of(call, x, (dim % len(x.shape),) if x.shape else ())
    return nodes.mapped("divide", powers, total)


def _seen(rows: int, columns: int) -> Node:
    """Which keys each row looks at: those up to its own place."""
    down, along = (
        Node(IOTA, "", (scalar(0, INT64), scalar(1, INT64)), INT64, (n,)) for n in (rows, columns)
    )
    turned = nodes.viewed(down, [(0, 0, 1)], (rows, 1))
    return nodes.mapped("less_equal", along, turned, dtype=BOOL)

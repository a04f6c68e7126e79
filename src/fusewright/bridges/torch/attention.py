"""Scaled dot-product attention: two products with softmax between them, which the planner runs
block of rows by block of rows.

Rows whose keys are all masked give zeros, as torch's do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf, prod, sqrt
from typing import TYPE_CHECKING, Any

from fusewright.base.later import later
from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.bridges.torch.matrices import is_ours
from fusewright.ir import products
from fusewright.ir.dtypes import BFLOAT16, BOOL, INT64, DType
from fusewright.ir.graph import IOTA, Node, scalar

if TYPE_CHECKING:
    import torch
else:  # the table is read without it
    torch = later("torch")

Shape = tuple[int, ...]

LONGEST = 4096
"""Keys of a row: longer rows leave the second-level cache, where they stay whole."""
MOST = 1 << 26
"""Scores in all: before the code that fuses is there, they are in memory."""
PART, MOST_PARTS = 256, 8
"""Rows of a part of causal attention, at least, and parts, at most.  They decide bits: a row's sum
is added up in an order that depends on how many keys its part looks at.
"""


def is_faster(query: Shape, key: Shape, dtype: DType) -> bool:
    """Whether attention is faster as ours: where both products are, and rows stay in the cache."""
    if dtype is BFLOAT16:  # not timed beside torch's
        return False
    if len(query) != 4 or query[0] != key[0] or not key[1] or query[1] % key[1]:
        return False
    scores = (*query[:3], key[2])
    first = is_ours((query, (*query[:2], query[3], key[2])), dtype)
    second = is_ours((scores, (*query[:2], *key[2:])), dtype)
    return first and second and key[2] <= LONGEST and prod(scores) <= MOST


@cache
def is_quick_in_torch() -> bool:
    """Whether torch's library has kernels for this processor with which its attention is as fast as
    ours, or faster (1.0 to 2.1 times, measured): with AVX-512 those of MKL are for Intel's.
    """
    found: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    is_known = "Intel" in str(found.get("cpu_name", "")) and bool(found.get("avx512_f"))
    return is_known and bool(torch.backends.mkl.is_available())


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
    if not is_faster(query.shape, key.shape, query.dtype):
        raise Declined("at these sizes torch's operation is faster")
    heads = key.shape[1]
    query, key, value = (_grouped(each, heads) for each in (query, key, value))
    scale = 1 / sqrt(query.shape[-1]) if scale is None else scale
    parts = []
    for rows in _parts(query.shape[3]) if is_causal else (range(query.shape[3]),):
        keys = min(rows.stop, key.shape[3]) if is_causal else key.shape[3]
        some = nodes.sliced(query, 3, rows.start, len(rows), 1)
        seen, read = (nodes.sliced(each, 3, 0, keys, 1) for each in (key, value))
        turned = nodes.permuted(seen, (0, 1, 2, 4, 3))
        scores = nodes.mapped("multiply", _product(some, turned), call.constant(scale))
        if attn_mask is not None:
            mask = call.operand(attn_mask)
            mask = _grouped(mask, heads) if len(mask.shape) == 4 else mask
            scores = nodes.mapped("add", scores, _masking(mask, rows, keys))
        if is_causal:
            scores = nodes.mapped("where", _seen(rows, keys), scores, call.constant(-inf))
        parts.append(_weighed(call, scores, read))
    made, sums = (_rows_joined(each) for each in zip(*parts, strict=True))
    return nodes.reshaped(made, call.shape), nodes.reshaped(sums, call.shape[:-1])


def _masking(mask: Node, rows: range, keys: int) -> Node:
    """The part of a mask for these rows and the first keys; either may be one for all."""
    rank = len(mask.shape)
    for dim, part in ((rank - 2, rows), (rank - 1, range(keys))):
        if dim >= 0 and mask.shape[dim] != 1:
            mask = nodes.sliced(mask, dim, part.start, len(part), 1)
    return mask


def _weighed(call: AtenCall, scores: Node, value: Node) -> tuple[Node, Node]:
    """`softmax(scores) @ value`, and the logarithms of the sums."""
    powers, most, total = powers_of(call, scores, (4,))
    weights = nodes.mapped("divide", powers, total)
    sums = nodes.mapped("add", most, nodes.mapped("log", total))
    return _product(weights, value), sums


def _product(a: Node, b: Node) -> Node:
    """Of a part, which may be small by itself."""
    return products.multiplied("matmul", a, b, a.shape[:-2])


def _parts(queries: int) -> list[range]:
    """The rows of causal attention in parts: keys behind a part's last row are not looked at.

    With more parts less is computed for nothing, but each part packs its keys and values anew.
    """
    count = min(max(queries // PART, 1), MOST_PARTS)
    rows = -(-queries // count)
    return [range(start, min(start + rows, queries)) for start in range(0, queries, rows)]


def _rows_joined(parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else nodes.joined(parts, 3)


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


def _seen(rows: range, columns: int) -> Node:
    """Which keys each row looks at: those up to its own place."""
    down, along = (
        Node(IOTA, "", (scalar(each.start, INT64), scalar(1, INT64)), INT64, (len(each),))
        for each in (rows, range(columns))
    )
    turned = nodes.viewed(down, [(0, 0, 1)], (len(rows), 1))
    return nodes.mapped("less_equal", along, turned, dtype=BOOL)

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
from fusewright.base.values import dataclass
from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.bridges.torch.matrices import is_half_quick_in_torch, is_ours
from fusewright.ir import products
from fusewright.ir.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT64, DType
from fusewright.ir.graph import IOTA, MAP, Node, scalar

if TYPE_CHECKING:
    import torch
else:  # the table is read without it
    torch = later("torch")

Shape = tuple[int, ...]

LONGEST = 4096
"""Keys of a row: longer rows leave the second-level cache, where they stay whole."""
MOST = 1 << 26
"""Scores in all: before the code that fuses is there, they are in memory."""
NARROW, WIDE = 16, 64
"""Numbers of a head, at least: of all that can be ours, and of bfloat16 where ours is faster
(measured: with 32 as fast as torch's or slower, from 64 on 1.0 to 1.3 times as fast).
"""
PART, MOST_PARTS = 256, 8
"""Rows of a part of causal attention, at least, and parts, at most.  They decide bits: a row's sum
is added up in an order that depends on how many keys its part looks at.
"""


def is_faster(query: Shape, key: Shape, dtype: DType) -> bool:
    """Whether attention is faster as ours: where both products are, and rows stay in the cache."""
    if len(query) != 4 or query[0] != key[0] or not key[1] or query[1] % key[1]:
        return False
    scores = (*query[:3], key[2])
    first = is_multiplied(query, key, dtype)
    return first and key[2] <= LONGEST and prod(scores) <= MOST


def is_multiplied(rows: Shape, columns: Shape, dtype: DType) -> bool:
    """Whether `rows @ columns.T` is a product of ours, and what has its shape times `columns`:
    of each head.  float16 is multiplied in float32, and heads may be as narrow as `NARROW`.
    """
    dtype = FLOAT32 if dtype is FLOAT16 else dtype
    if min(rows[3], columns[3]) < NARROW:
        return False
    heads, count, width = rows[:2], columns[2], max(columns[3], products.THIN)
    first = is_ours(((*rows[:3], width), (*heads, width, count)), dtype)
    return first and is_ours(((*rows[:3], count), (*heads, count, width)), dtype)


@cache
def is_quick_in_torch() -> bool:
    """Whether torch's library has kernels for this processor with which its attention is as fast as
    ours, or faster (1.0 to 2.1 times, measured): with AVX-512 those of MKL are for Intel's.
    """
    found: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    is_known = "Intel" in str(found.get("cpu_name", "")) and bool(found.get("avx512_f"))
    return is_known and bool(torch.backends.mkl.is_available())


def is_faster_in_torch(query: Shape, key: Shape, dtype: DType) -> bool:
    """Whether all attention of a type is: of bfloat16 where products of it are, and with heads of
    less than `WIDE`; of float16, and with heads for which products are torch's.
    """
    width = query[-1]
    if dtype is BFLOAT16:
        return width < WIDE or is_half_quick_in_torch()
    return dtype is FLOAT16 or width < products.THIN or is_quick_in_torch()


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
    decline_unless(is_faster(query.shape, key.shape, query.dtype), dropout)
    heads = key.shape[1]
    how = masking(call, attn_mask, heads, query.shape[-1], scale, is_causal)
    query, key, value = (grouped(stored(call, each), heads) for each in (query, key, value))
    parts = []
    for rows in parts_of(query.shape[3]) if is_causal else (range(query.shape[3]),):
        keys = range(min(rows.stop, key.shape[3]) if is_causal else key.shape[3])
        scores = how.scores(call, cut(query, rows), cut(key, keys), rows, keys)
        parts.append(_weighed(call, scores, cut(value, keys)))
    made, sums = (rows_joined(each) for each in zip(*parts, strict=True))
    return nodes.reshaped(made, call.shape), nodes.reshaped(sums, call.shape[:-1])


def decline_unless(faster: bool, dropout: float) -> None:
    """What is left to torch whatever the rest is."""
    if dropout:
        raise Declined("dropout is torch's")
    if not faster:
        raise Declined("at these sizes torch's operation is faster")


def stored(call: AtenCall, x: Node) -> Node:
    """A value as it is multiplied: rounded to bfloat16, or as it was before it was widened, where
    the operands are stored so; all others as they are.
    """
    if call.stored is not BFLOAT16:
        return x
    is_widened = x.kind == MAP and x.op == "cast" and x.args[0].dtype is BFLOAT16
    return x.args[0] if is_widened else nodes.cast(x, BFLOAT16)


@dataclass(frozen=True, slots=True)
class Masking:
    """What products of queries and keys are scaled by, the mask that is added, by groups of heads,
    and whether each query looks at the keys up to its own place only.
    """

    scale: float
    mask: Node | None
    is_causal: bool

    def scores(
        self,
        call: AtenCall,
        query: Node,
        key: Node,
        rows: range,
        keys: range,
        by_keys: bool = False,
    ) -> Node:
        """`query @ key.T * scale + mask` of these queries and keys; transposed `by_keys`."""
        made = product(key, turned(query)) if by_keys else product(query, turned(key))
        made = nodes.mapped("multiply", made, call.constant(self.scale))
        if self.mask is not None:
            mask = _part(self.mask, rows, keys)
            made = nodes.mapped("add", made, turned(mask) if by_keys else mask)
        if self.is_causal:
            seen = _seen(rows, keys, by_keys)
            made = nodes.mapped("where", seen, made, call.constant(-inf))
        return made


def masking(
    call: AtenCall, mask: Any, heads: int, width: int, scale: float | None, is_causal: bool
) -> Masking:
    """What is given, with the scale that is meant where none is."""
    if mask is not None:
        mask = call.operand(mask)
        mask = grouped(mask, heads) if len(mask.shape) == 4 else mask
    return Masking(1 / sqrt(width) if scale is None else scale, mask, is_causal)


def _part(mask: Node, rows: range, keys: range) -> Node:
    """A mask for these rows and keys; either may be one for all."""
    rank = len(mask.shape)
    for dim, part in ((rank - 2, rows), (rank - 1, keys)):
        if dim >= 0 and mask.shape[dim] != 1:
            mask = nodes.sliced(mask, dim, part.start, len(part), 1)
    return mask


def cut(x: Node, rows: range) -> Node:
    """These rows of each head."""
    return nodes.sliced(x, 3, rows.start, len(rows), 1)


def turned(x: Node) -> Node:
    """The matrices of each head transposed; what is widened, before that."""
    if x.kind == MAP and x.op == "cast":
        return nodes.cast(turned(x.args[0]), x.dtype)
    *others, down, along = range(len(x.shape))
    return nodes.permuted(x, (*others, along, down))


def _weighed(call: AtenCall, scores: Node, value: Node) -> tuple[Node, Node]:
    """`softmax(scores) @ value`, and the logarithms of the sums.

    Of bfloat16 the powers are rounded, and what they give is divided, as eager's kernel does.
    """
    powers, most, total = powers_of(call, scores, (4,))
    sums = nodes.mapped("add", most, nodes.mapped("log", total))
    if value.dtype is BFLOAT16:
        made = product(nodes.cast(powers, BFLOAT16), value)
        return nodes.mapped("divide", made, total), sums
    return product(nodes.mapped("divide", powers, total), value), sums


def product(a: Node, b: Node) -> Node:
    """Of a part, which may be small by itself; of bfloat16 not yet rounded."""
    result = FLOAT32 if a.dtype is BFLOAT16 else None
    return products.multiplied("matmul", a, b, a.shape[:-2], result)


def parts_of(queries: int) -> list[range]:
    """The rows of causal attention in parts: keys behind a part's last row are not looked at.

    With more parts less is computed for nothing, but each part packs its keys and values anew.
    """
    count = min(max(queries // PART, 1), MOST_PARTS)
    rows = -(-queries // count)
    return [range(start, min(start + rows, queries)) for start in range(0, queries, rows)]


def rows_joined(parts: Sequence[Node]) -> Node:
    """The rows of parts, one after the other."""
    return parts[0] if len(parts) == 1 else nodes.joined(parts, 3)


def grouped(x: Node, heads: int) -> Node:
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


def _seen(rows: range, keys: range, by_keys: bool) -> Node:
    """Which keys each row looks at: those up to its own place."""
    down, along = (
        Node(IOTA, "", (scalar(each.start, INT64), scalar(1, INT64)), INT64, (len(each),))
        for each in ((keys, rows) if by_keys else (rows, keys))
    )
    column = nodes.viewed(down, [(0, 0, 1)], (*down.shape, 1))
    order = (column, along) if by_keys else (along, column)
    return nodes.mapped("less_equal", *order, dtype=BOOL)

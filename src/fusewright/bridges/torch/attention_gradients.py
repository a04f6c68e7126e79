"""Gradients of scaled dot-product attention, from probabilities that are computed once more:

    p = exp(query @ key.T * scale + mask - sums);  ds = p * (grad @ value.T - rowsum(grad * made))
    dquery = ds @ key * scale;  dkey = ds.T @ query * scale;  dvalue = p.T @ grad

Two chains of products, block of rows by block of rows: one by queries; one by keys, which has the
scores transposed (the same bits), so that no scores are ever in memory where chains are fused.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fusewright.base.values import dataclass
from fusewright.bridges.torch import attention, nodes
from fusewright.bridges.torch.attention import (
    LONGEST,
    MOST,
    WIDE,
    Masking,
    Shape,
    cut,
    decline_unless,
    grouped,
    is_multiplied,
    masking,
    parts_of,
    product,
    rows_joined,
    stored,
    turned,
)
from fusewright.bridges.torch.call import AtenCall
from fusewright.ir.dtypes import BFLOAT16, DType
from fusewright.ir.graph import Node

SHORT = 512
"""Rows and keys up to which gradients of bfloat16 are faster as ours (measured: 1.15 to 1.3 times
as fast; with more 0.75 to 1.0, and 1.15 with heads of 128).
"""
COPIES = 4
"""Arrays of as many numbers as there are scores, that are in memory before the code that fuses is
there.
"""


def is_faster(query: Shape, key: Shape, dtype: DType) -> bool:
    """Whether the gradients are faster as ours: where all products are, and rows stay in the cache,
    of queries and of keys.
    """
    if len(query) != 4 or query[0] != key[0] or not key[1] or query[1] % key[1]:
        return False
    every = (*query[:2], *key[2:])
    both = is_multiplied(query, every, dtype) and is_multiplied(every, query, dtype)
    scores = prod(query[:3]) * key[2]
    return both and max(query[2], key[2]) <= LONGEST and COPIES * scores <= MOST


def is_faster_in_torch(query: Shape, key: Shape, dtype: DType) -> bool:
    """Whether they are by type: of bfloat16, too, where rows are long and heads are not wide."""
    long = max(query[2], key[2]) > SHORT and query[3] < 2 * WIDE
    return attention.is_faster_in_torch(query, key, dtype) or (dtype is BFLOAT16 and long)


def attention_backward(
    call: AtenCall,
    grad: Node,
    query: Node,
    key: Node,
    value: Node,
    made: Node,
    sums: Node,
    dropout: float,
    is_causal: bool,
    *,
    attn_mask: Node | None = None,
    scale: float | None = None,
) -> tuple[Node, Node, Node]:
    """The gradients of queries, keys and values; `sums` are the logarithms of the sums."""
    decline_unless(is_faster(query.shape, key.shape, query.dtype), dropout)
    heads = key.shape[1]
    how = masking(call, attn_mask, heads, query.shape[-1], scale, is_causal)
    made, grad, query = (grouped(each, heads) for each in (made, grad, query))
    shift = nodes.reduced("sum", nodes.mapped("multiply", grad, made), (4,), True)
    sums = nodes.reshaped(grouped(sums, heads), shift.shape)
    grad, query, key, value = (stored(call, each) for each in (grad, query, key, value))
    group = query.shape[:3]
    key, value = (_shared(grouped(each, heads), group) for each in (key, value))
    given = _Gradients(call, how, query, key, value, grad, sums, shift)
    of_queries = rows_joined(list(given.of_queries()))
    of_keys, of_values = (rows_joined(each) for each in zip(*given.of_keys(), strict=True))
    return (
        nodes.reshaped(of_queries, call.shape),
        _added_up(of_keys),
        _added_up(of_values),
    )


def _added_up(x: Node) -> Node:
    """Of the heads that share keys."""
    batch, heads, count, *rest = x.shape
    if count == 1:
        return nodes.reshaped(x, (batch, heads, *rest))
    return nodes.reduced("sum", x, (2,), False)


def _shared(x: Node, group: Shape) -> Node:
    """Keys that several heads of queries share, for each of them."""
    return nodes.expanded(x, (*group, *x.shape[3:]))


@dataclass(frozen=True, slots=True)
class _Gradients:
    """What they are computed from: by groups of heads, and keys and values for each head of them;
    `sums` and `shift` (the sums of rows of `grad * made`) have one number for each row.
    """

    call: AtenCall
    how: Masking
    query: Node
    key: Node
    value: Node
    grad: Node
    sums: Node
    shift: Node

    def of_queries(self) -> Iterator[Node]:
        """For each part of the rows."""
        length, count = self.query.shape[3], self.key.shape[3]
        for rows in parts_of(length) if self.how.is_causal else (range(length),):
            keys = range(min(rows.stop, count) if self.how.is_causal else count)
            _, apart = self.block(rows, keys, False)
            yield self.scaled(product(apart, cut(self.key, keys)))

    def of_keys(self) -> Iterator[tuple[Node, Node]]:
        """Those of keys and values, for each part of the keys."""
        length, count = self.query.shape[3], self.key.shape[3]
        is_causal = self.how.is_causal
        for keys in parts_of(min(length, count)) if is_causal else (range(count),):
            rows = range(keys.start if is_causal else 0, length)
            weights, apart = self.block(rows, keys, True)
            of_keys = self.scaled(product(apart, cut(self.query, rows)))
            yield of_keys, product(weights, cut(self.grad, rows))
        if is_causal and count > length:  # no query looks at these
            shape = (*self.key.shape[:3], count - length, self.key.shape[4])
            zeros = nodes.expanded_number(self.call.constant(0), shape)
            yield zeros, zeros

    def block(self, rows: range, keys: range, by_keys: bool) -> tuple[Node, Node]:
        """The probabilities of these queries and keys, and the gradients of their scores, as they
        are multiplied; transposed `by_keys`.
        """
        query, grad, sums, shift = (
            cut(each, rows) for each in (self.query, self.grad, self.sums, self.shift)
        )
        key, value = cut(self.key, keys), cut(self.value, keys)
        scores = self.how.scores(self.call, query, key, rows, keys, by_keys)
        if by_keys:
            sums, shift = turned(sums), turned(shift)
            found = product(value, turned(grad))
        else:
            found = product(grad, turned(value))
        weights = nodes.mapped("exp", nodes.mapped("subtract", scores, sums))
        apart = nodes.mapped("multiply", weights, nodes.mapped("subtract", found, shift))
        return stored(self.call, weights), stored(self.call, apart)

    def scaled(self, x: Node) -> Node:
        """A gradient of what was multiplied before it was scaled."""
        return nodes.mapped("multiply", x, self.call.constant(self.how.scale))

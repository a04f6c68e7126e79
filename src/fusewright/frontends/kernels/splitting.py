"""Arrays cut into parts of the same memory: `np.split`, `np.array_split` and their kin.

How many parts there are is known when the kernel is compiled; where they end may be computed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelCallError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, elementwise, views
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.named import Given, Named, axis
from fusewright.frontends.kernels.values import (
    ListValue,
    Number,
    SliceValue,
    TupleValue,
    Value,
    described,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, typed_op

MOST = 64
"""Parts, at most: what is done with each is written out."""


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """Arrays have no such method."""
    return None


def _split(even: bool, along: int | None = None) -> Callable[[Translation, ast.Call, Given], Value]:
    """The row of a function; `even`: a count must divide the extent."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        span = t.span(node)
        value = views.array(t, given["ary"], span)
        rank = len(elementwise.shape_of(value))
        dim = axis(given["axis"], rank, span) if "axis" in given else along or 0
        if dim >= rank:
            dim = 0  # `np.hsplit` of one dim
        extent = elements.size(elementwise.shape_of(value)[dim])
        sections = given["indices_or_sections"]
        literal = sections.literal if isinstance(sections, Number) else None
        if isinstance(literal, int) and 0 < literal <= MOST:
            ends = _evenly(t, extent, literal, even, span)
        elif isinstance(sections, TupleValue):
            ends = [elements.whole(elements.as_number(t, each, span), span)
                    for each in sections.items]  # fmt: skip
        else:
            raise KernelCallError(
                f"{described(sections)} as the number of parts",
                span,
                why="how many parts there are is decided when the kernel is compiled",
                help=f"write a literal from 1 to {MOST}, fw.static(n) of an argument, or a tuple "
                "of the places to cut at; or a loop over slices, a[k * size:(k + 1) * size]",
            )
        starts = [None, *ends]
        items = [
            elementwise.part(t, value, [*_all(dim), SliceValue(low, high, 1)], span)
            for low, high in zip(starts, [*ends, None], strict=True)
        ]
        return ListValue(tuple(items), span)

    return row


def _all(dims: int) -> Sequence[Value]:
    return [SliceValue(None, None, 1)] * dims


def _evenly(t: Translation, extent: Expr, count: int, even: bool, span: Span) -> list[Number]:
    """Where parts end, but for the last: the first ones are one longer where it does not divide."""
    parts = const(count, INT64)
    size, rest = (typed_op(name, INT64, extent, parts) for name in ("floor_divide", "remainder"))
    if even:
        message = "ValueError:array split does not result in an equal division"
        t.check(op("equal", rest, const(0, INT64)), "raised", message, (), span)
        rest = const(0, INT64)
    found = []
    for place in range(1, count):
        longer = op("minimum", const(place, INT64), rest)
        end = linear.plus(linear.times(size, place), longer)
        found.append(t.fixed(Number(end, "python", span)))
    return found


_SPLIT = ("ary", "indices_or_sections", "axis")
ROWS: dict[Any, Named] = {
    np.array_split: Named(_SPLIT, _split(False), 2),
    np.split: Named(_SPLIT, _split(True), 2),
    np.vsplit: Named(_SPLIT[:2], _split(True, 0), 2),
    np.hsplit: Named(_SPLIT[:2], _split(True, 1), 2),
}

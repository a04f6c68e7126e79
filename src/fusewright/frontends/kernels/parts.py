"""Parts of arrays written with one number: `a[i, 1:-1] = 0.0`, `a[i] *= f`, `a.fill(x)`."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from fusewright.base.errors import KernelError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elements
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.operators import combine
from fusewright.frontends.kernels.values import ArrayRef, Number, Value, describe
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import const, index
from fusewright.ir.loops.statements import Dim, For


def fill(t: Translation, part: ArrayRef, value: Value, span: Span) -> None:
    """Every element becomes one number."""
    number = t.fixed(_one_number(t, value, span))
    _each(t, part, lambda element: elements.store(t, element, number, span), span)


def update(t: Translation, part: ArrayRef, sign: ast.operator, value: Value, span: Span) -> None:
    """Every element is combined with one number."""
    number = t.fixed(_one_number(t, value, span))

    def changed(element: ArrayRef) -> None:
        before = elements.read(t, element, span)
        result = as_number(t, combine(t, sign, before, number, span), span)
        if not np.can_cast(result.dtype.numpy, part.dtype.numpy, "same_kind"):
            raise KernelError(
                f"{describe(result)} into elements of {part.dtype}",
                span,
                why="NumPy refuses to cast it back into the array",
                help="convert the number first",
            )
        elements.store(t, element, result, span)

    _each(t, part, changed, span)


def _one_number(t: Translation, value: Value, span: Span) -> Number:
    if isinstance(value, ArrayRef) and value.shape:
        raise KernelError(
            "a part of an array where one number is written",
            span,
            why="whether the two share memory would have to be known",
            help="copy the elements in a loop",
        )
    return as_number(t, value, span)


def _each(t: Translation, part: ArrayRef, write: Callable[[ArrayRef], None], span: Span) -> None:
    """A nest over the elements of a part."""
    dims, places = [], []
    outer = dict(t.ranges)
    for dim, extent in enumerate(part.shape):
        number = t.index()
        end = t.fixed(Number(extent, "python", span)).expr
        dims.append(Dim(number, const(0, INT64), end, f"_{dim}"))
        places.append(Number(index(number), "python", span))
        t.ranges[number] = (const(0, INT64), end)
    with t.block() as body:
        write(elements.indexed(t, part, places, span))
    t.ranges = outer
    t.write(For(tuple(dims), tuple(body), span))

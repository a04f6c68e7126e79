"""A slice of pending array statements as a kernel of loops: the nests that the array planner makes
of it, over the values at its edge.

b = 2*a; b[1:-1] = c        for i0 in [0, 1): b0[i0] = 2*a[i0]
                            for i1 in [1, n - 1): b0[i1] = c[i1 - 1] ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels.translate import Translated
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64, DType
from fusewright.ir.expr import Expr, cast, const, index, load, local, param, rewrite, typed_op
from fusewright.ir.graph import Node
from fusewright.ir.identity import of_reduction
from fusewright.ir.loops.statements import NOWHERE, Dim, For, Kernel, Let, Local, Statement, Store
from fusewright.ir.nest import Box, Buffer, Nest, Program, Source, Stage
from fusewright.ir.ops import REDUCE, SCAN
from fusewright.kernels.specialise import Specialised
from fusewright.plan.extents import Extents
from fusewright.plan.loops.map.reductions import is_associative
from fusewright.plan.stages import build
from fusewright.runtime.arguments import fetcher

NAME = "array_statement"


class NotLowered(Exception):
    """The slice is no kernel of loops."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The kernel; its buffers are the slots of the edge and then those of `fresh` arrays.  `root`
    is the buffer with the slice's value, `scalars` says what each scalar parameter is.
    """

    found: Specialised
    edge: tuple[int, ...]
    fresh: tuple[int, ...]
    root: int
    scalars: Mapping[int, Source]

    def values(self, order: Sequence[Node]) -> dict[int, Any]:
        """The scalars of a slice of this structure, by parameter."""
        return {number: _value(order, source) for number, source in self.scalars.items()}


def lower(order: Sequence[Node], edge: Sequence[int], in_place: frozenset[int]) -> Lowered:
    """The kernel of a slice, operands first, the value last; raises `NotLowered`.

    What stands at its edge are leaves in C order; versions `in_place` are written into their
    base's memory.
    """
    root = len(order) - 1
    if any(node.dtype.is_complex or node.dtype.is_stored_only for node in order):
        raise NotLowered
    program = build(order, frozenset({root}), in_place)
    return _Lowering(order, program, edge).lowered(root)


class _Lowering:
    def __init__(self, order: Sequence[Node], program: Program, edge: Sequence[int]) -> None:
        self.order, self.program, self.edge = order, program, tuple(edge)
        self.numbers = {slot: number for number, slot in enumerate(edge)}
        self.fresh: list[int] = []
        self.sources: list[Source] = []
        self.dtypes: list[DType] = []
        self.scalars: dict[int, Source] = {}
        self.locals: list[Local] = []
        self.indices = 0
        self.parameters: list[Expr] = []
        extents = Extents(order)
        self.extents: dict[tuple[int, int], tuple[int, int, int]] = {}
        for slot, number in self.numbers.items():
            for dim in range(len(order[slot].shape)):
                root, offset = extents.find(slot, dim)
                self.extents.setdefault(root, (number, dim, offset))

    def lowered(self, root: int) -> Lowered:
        for step in self.program.steps:
            if not isinstance(step, Stage) or not _is_orderly(step):
                raise NotLowered
            self._place(step)
        count = len(self.edge) + len(self.fresh)
        self.parameters = [self._parameter(source) for source in self.program.arguments]
        body = tuple(
            statement
            for step in self.program.steps
            if isinstance(step, Stage)
            for nest in step.nests
            for statement in self._loop(step, nest)
        )
        slots = (*self.edge, *self.fresh)
        buffers = tuple(self._buffer(number, slot) for number, slot in enumerate(slots))
        kernel = Kernel(
            NAME, buffers, frozenset(), tuple(self.sources), tuple(self.dtypes),
            tuple(self.locals), body,
        )  # fmt: skip
        nothing = (None,) * count
        translated = Translated(kernel, nothing, nothing, (), (), {}, None)
        found = Specialised(translated, {})
        return Lowered(found, self.edge, tuple(self.fresh), self.numbers[root], self.scalars)

    def _place(self, step: Stage) -> None:
        """The buffer of a stage: the one it patches, or a fresh one."""
        if step.slot in self.numbers:
            return
        if step.update in self.numbers:
            self.numbers[step.slot] = self.numbers[step.update]
            return
        self.numbers[step.slot] = len(self.edge) + len(self.fresh)
        self.fresh.append(step.slot)

    def _parameter(self, source: Source) -> Expr:
        """A number of the slice: the extent of a buffer, or a scalar."""
        if source.what == "extent" and (source.slot, source.dim) in self.extents:
            number, dim, offset = self.extents[source.slot, source.dim]
            extent = param(self._number(Source("extent", number, dim), INT64), INT64)
            return linear.minus(extent, offset)
        dtype = self.order[source.slot].dtype if source.what == "scalar" else INT64
        width = FLOAT64 if dtype.kind == "f" else INT64
        place = self._number(Source("scalar", len(self.scalars)), width)
        self.scalars[place] = source
        return cast(param(place, width), dtype)

    def _number(self, source: Source, dtype: DType) -> int:
        if source in self.sources:
            return self.sources.index(source)
        self.sources.append(source)
        self.dtypes.append(dtype)
        return len(self.sources) - 1

    def _buffer(self, number: int, slot: int) -> Buffer:
        node = self.order[slot]
        extents = tuple(
            param(self._number(Source("extent", number, dim), INT64), INT64)
            for dim in range(len(node.shape))
        )
        return Buffer(number, node.dtype, extents)

    def _loop(self, step: Stage, nest: Nest) -> tuple[Statement, ...]:
        first, memo = self.indices, dict[Expr, Expr]()
        parameters = self.parameters
        self.indices += len(nest.box.low)

        def leaf(expr: Expr) -> Expr | None:
            if expr.name == "param":
                parameter: Expr = parameters[expr.attr]
                return parameter
            if expr.name == "index":
                return index(expr.attr + first, expr.dtype)
            if expr.name == "load":
                return load(self.numbers[expr.attr], expr.args, expr.dtype)
            return None

        def moved(expr: Expr) -> Expr:
            return rewrite(expr, leaf, memo)

        dims = [Dim(d.index, moved(d.low), moved(d.high), d.name) for d in _dims(nest.box, first)]
        places, value = tuple(map(moved, nest.store)), cast(moved(nest.body), step.dtype)
        number, span = self.numbers[step.slot], self.order[step.slot].line or NOWHERE
        if step.form == "map":
            return _nested(dims, (Store(number, places, value),), span)
        own = local(len(self.locals), step.dtype)
        self.locals.append(Local("folded", step.dtype, True))
        start = const(of_reduction(step.fold, step.dtype), step.dtype)
        update = Let(own.attr, typed_op(_combined(step), step.dtype, own, value))
        store = Store(number, places, own)
        along = [dims[axis] for axis in step.axes]
        if step.form == "scan":
            inner = _nested(along, (update, store), span)
        else:
            inner = (*_nested(along, (update,), span), store)
        kept = [dim for axis, dim in enumerate(dims) if axis not in step.axes]
        return _nested(kept, (Let(own.attr, start), *inner), span)


_OF_BITS = {"any": "bitwise_or", "max": "bitwise_or", "all": "bitwise_and", "min": "bitwise_and"}


def _combined(step: Stage) -> str:
    """The operation that a reduction or a scan repeats."""
    if step.dtype is BOOL and step.fold in _OF_BITS:
        return _OF_BITS[step.fold]
    return (REDUCE.get(step.fold) or SCAN[step.fold]).combine


def _is_orderly(step: Stage) -> bool:
    """Whether loops say in which order a stage computes: what has a fixed order of its own (sums of
    floats by lanes and blocks, their extremes with regard to signs of zeros) has none here.
    """
    if step.form == "scan":
        return not step.dtype.is_float or _combined(step) in ("add", "multiply")
    return step.form == "map" or is_associative(_combined(step), step.dtype)


def _nested(dims: Sequence[Dim], body: tuple[Statement, ...], span: Span) -> tuple[Statement, ...]:
    return (For(tuple(dims), body, span),) if dims else body


def _dims(box: Box, first: int) -> tuple[Dim, ...]:
    rows = enumerate(zip(box.low, box.high, strict=True))
    return tuple(Dim(first + n, low, high, "") for n, (low, high) in rows)


def _value(order: Sequence[Node], source: Source) -> Any:
    node = order[source.slot]
    value = fetcher(source, node.kind)(order)
    if source.what != "scalar":
        return value
    with np.errstate(all="ignore"):
        number = node.dtype.numpy.type(value).item()
    return int(number) if node.dtype is BOOL else number

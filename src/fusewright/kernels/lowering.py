"""A slice of pending array statements as a kernel of loops: the nests that the array planner makes
of it, over the values at its edge.

b = 2*a; b[1:-1] = c        for i0 in [0, 1): b0[i0] = 2*a[i0]
                            for i1 in [1, n - 1): b0[i1] = c[i1 - 1] ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusewright.frontends.kernels.translate import Translated
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, FLOAT16, FLOAT64, INT64, DType
from fusewright.ir.expr import Expr, cast, index, load, param, rewrite
from fusewright.ir.graph import Node
from fusewright.ir.loops.statements import NOWHERE, Dim, For, Kernel, Statement, Store
from fusewright.ir.nest import Box, Buffer, Nest, Program, Source, Stage
from fusewright.kernels.specialise import Specialised
from fusewright.plan.extents import Extents
from fusewright.plan.stages import build
from fusewright.targets.cpu.launch import fetcher

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
    if any(node.dtype.is_complex or node.dtype is FLOAT16 for node in order):
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
            if not isinstance(step, Stage) or step.form != "map":
                raise NotLowered
            self._place(step)
        count = len(self.edge) + len(self.fresh)
        self.parameters = [self._parameter(source) for source in self.program.arguments]
        body = tuple(
            self._loop(step, nest)
            for step in self.program.steps
            if isinstance(step, Stage)
            for nest in step.nests
        )
        slots = (*self.edge, *self.fresh)
        buffers = tuple(self._buffer(number, slot) for number, slot in enumerate(slots))
        kernel = Kernel(
            NAME, buffers, frozenset(), tuple(self.sources), tuple(self.dtypes), (), body
        )
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

    def _loop(self, step: Stage, nest: Nest) -> Statement:
        first, memo = self.indices, dict[Expr, Expr]()
        rank, parameters = len(nest.box.low), self.parameters
        self.indices += rank

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

        places = tuple(map(moved, nest.store))
        store = Store(self.numbers[step.slot], places, cast(moved(nest.body), step.dtype))
        if not rank:
            return store
        dims = _dims(nest.box, first)
        dims = tuple(Dim(d.index, moved(d.low), moved(d.high), d.name) for d in dims)
        return For(dims, (store,), NOWHERE)


def _dims(box: Box, first: int) -> tuple[Dim, ...]:
    rows = enumerate(zip(box.low, box.high, strict=True))
    return tuple(Dim(first + n, low, high, f"i{n}") for n, (low, high) in rows)


def _value(order: Sequence[Node], source: Source) -> Any:
    node = order[source.slot]
    value = fetcher(source, node.kind)(order)
    if source.what != "scalar":
        return value
    with np.errstate(all="ignore"):
        number = node.dtype.numpy.type(value).item()
    return int(number) if node.dtype is BOOL else number

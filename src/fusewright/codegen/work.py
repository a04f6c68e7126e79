"""A phase with reductions or scans while it is written: its loops, places and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from fusewright.codegen.fold import Folding, store_lanes
from fusewright.codegen.loops import at
from fusewright.codegen.spell import llvm_type
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64, DType
from fusewright.ir.expr import Expr, const, load
from fusewright.ir.tree.nodes import OrderedReduction
from fusewright.ir.tree.units import closes_block, opens_block

if TYPE_CHECKING:
    from fusewright.codegen.arguments import UnitArguments


class Fold(NamedTuple):
    """One accumulation of a phase: part `part` of `parts` (a complex value has two)."""

    slot: int
    name: str
    where: tuple[Expr, ...]
    body: Expr
    part: int
    parts: int

    @property
    def dtype(self) -> DType:
        return self.body.dtype


class Write(NamedTuple):
    """What a phase that reduces also stores, element by element."""

    slot: int
    where: tuple[Expr, ...]
    body: Expr


class Work:
    """One phase being written, for one index of the dims around it."""

    def __init__(self, folding: Folding, lowering: UnitArguments, node: OrderedReduction) -> None:
        self.folding = folding
        self.builder = folding.builder
        self.memory = folding.memory
        self.lowering = lowering
        self.node = node
        primitives = lowering.derived.primitives
        slots = [store.buffer for store in node.folds]
        bodies = primitives([store.value for store in node.folds])
        self.folds = [
            Fold(s.buffer, s.combine, s.indices, body, slots[:n].count(s.buffer),
                 slots.count(s.buffer))
            for n, (s, body) in enumerate(zip(node.folds, bodies, strict=True))
        ]  # fmt: skip
        written = primitives([store.value for store in node.stores])
        self.stores = [
            Write(s.buffer, s.indices, body) for s, body in zip(node.stores, written, strict=True)
        ]
        self.variables = lowering.variables
        self.inner = range(node.outer, len(node.extents))
        self.limits = self._placed(node.ends[0]), self._placed(node.ends[1])

    @property
    def width(self) -> int:
        """Lanes of the vector being written."""
        return self.builder.lanes.width if self.builder.lanes else 1

    def _placed(self, node: Expr) -> Expr:
        """An expression of the tree here, in primitives."""
        return self.lowering.settled(node)

    def _store_maps(self, place: dict[int, Expr]) -> None:
        for slot, where, body in self.stores:
            there = tuple(at(index, place) for index in where)
            self.memory.store(slot, there, self.builder.emit(at(body, place)), body.dtype)

    # -- where things are -----------------------------------------------------------------------

    def _bounds(self) -> tuple[str, str]:
        """The registers of the last dim's bounds."""
        return self.builder.scalar(self.limits[0]), self.builder.scalar(self.limits[1])

    def _loops(
        self, stack: ExitStack, dims: Sequence[int], here: dict[int, Expr]
    ) -> dict[int, Expr]:
        here = dict(here)
        for dim in dims:
            ends = self.node.low[dim], self.node.high[dim]
            low, high = (self.builder.scalar(self._placed(end)) for end in ends)
            here[dim] = stack.enter_context(self.builder.loop(low, high, 1)).variable
        return here

    def _place(self, here: dict[int, Expr]) -> dict[int, Expr]:
        """The loop indices; those of dims that are done count as 0."""
        zero = const(0, INT64)
        return {**self.variables, **dict.fromkeys(self.inner, zero), **here}

    def _where(self, fold: Fold, place: dict[int, Expr]) -> list[Expr]:
        return [at(i, place) for i in fold.where]

    def _read(self, slot: int, where: Sequence[Expr], dtype: DType) -> str:
        return self.memory.load(load(slot, tuple(where), dtype), self.width)

    # -- blocks of units ------------------------------------------------------------------------

    def _unit(self) -> Expr:
        assert self.node.unit is not None, "units are asked for where they are reduced"
        return self.node.unit

    def _opens_block(self) -> str:
        """The register that says whether the unit is the first of its block."""
        return self.builder.scalar(self._placed(opens_block(self._unit())))

    def _closes_block(self) -> str:
        """The same of the last."""
        return self.builder.scalar(self._placed(closes_block(self._unit())))

    def _block_place(self, fold: Fold, place: dict[int, Expr]) -> list[Expr]:
        return [self._placed(self.node.block), *self._where(fold, place)]

    def _into_block(self, fold: Fold, total: str, lanes: int) -> None:
        """The lanes of this unit's block so far."""
        builder = self.builder
        number = builder.scalar(
            linear.plus(linear.times(self._placed(self.node.block), fold.parts), fold.part)
        )
        element = "i8" if fold.dtype is BOOL else fold.dtype.llvm
        partial = self.folding.partials[fold.slot]
        pointer = builder.value(f"getelementptr [{lanes} x {element}], ptr {partial}, i64 {number}")
        store_lanes(builder, pointer, total, fold.dtype, lanes)

    def _combine_into(self, fold: Fold, where: list[Expr], value: str) -> None:
        """Add one element to this unit's block."""
        first = self._opens_block()
        kind = llvm_type(fold.dtype, 1)
        before = self._read(fold.slot, where, fold.dtype)
        total = self.folding.combine(fold.name, fold.dtype, before, value, 1)
        chosen = self.builder.value(f"select i1 {first}, {kind} {value}, {kind} {total}")
        self.memory.store(fold.slot, where, chosen, fold.dtype)

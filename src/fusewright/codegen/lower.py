"""The loop tree of a kernel of arrays as LLVM text: one function for a part of the units, and one
that combines what was reduced over units (`finish`).

Arguments arrive as 64-bit words in the order of `Module.words`;
the function runs units [lo, hi).  Everything about loops is decided in the tree
(`codegen.trees.arrays`); each expression goes as far out as its operands allow.  Loops, branches
and stores are written as those of kernels of loops (`codegen.statements`).
"""

from __future__ import annotations

from fusewright.codegen import reduction, repeat
from fusewright.codegen.arguments import UnitArguments
from fusewright.codegen.derived import Derived
from fusewright.codegen.fold import Folding, finish
from fusewright.codegen.loops import Loops
from fusewright.codegen.module import Module, Word
from fusewright.codegen.prelude import prelude
from fusewright.codegen.statements import ATTRIBUTES, Emission
from fusewright.ir.dtypes import component
from fusewright.ir.expr import load
from fusewright.ir.loops.statements import Store
from fusewright.ir.tree.nodes import (
    OrderedReduction,
    RepeatedStep,
    Section,
    Together,
    Tree,
    stores_in,
)
from fusewright.ir.tree.units import IndexLet, WindowStart


def module_of(tree: Tree, vector_bytes: int, derived: Derived | None = None) -> Module:
    """The tree's module for machine vectors of this many bytes; what is `derived` already is not
    derived again.
    """
    return ArrayEmission(tree, vector_bytes == 64, derived).whole()


class ArrayEmission(UnitArguments):
    """One tree being written."""

    def whole(self) -> Module:
        """The module."""
        self.arguments()
        self.tables = {
            bodies: repeat.fill_table(self.builder, one, self.words_of[bodies])
            for bodies, one in self.repeats.items()
        }
        text = self.module("kernel")
        ending = self._finish()
        text = f"{text}{ending}"
        full = f"{text}\n{prelude(text)}\n{ATTRIBUTES}\n"
        buffers = self.tree.declared.buffers
        partials = tuple(
            (each.buffer, each.size, component(buffers[each.buffer].dtype).itemsize)
            for each in self.units.partials
        )
        words, scratch = tuple(self.words.every), tuple(self.scratch)
        return Module(full, words, scratch, bool(ending), partials)

    def _section(self, node: Section) -> None:
        with self.builder.when("true"):
            self.block(node.body)

    def _stored(self, node: Together) -> None:
        self.together(node.body)

    def updated(self, store: Store) -> str:
        """The register of what an element gets; one that is updated is read here and now."""
        value = self.builder.emit(self.settled(store.value))
        if not store.combine:
            return value
        dtype, width = store.value.dtype, self.builder.lanes.width if self.builder.lanes else 1
        there = load(store.buffer, tuple(map(self.settled, store.indices)), dtype)
        before = self.memory.load(there, width)
        return self.folding.update(store.combine, dtype, before, value, width)

    def _reduction(self, node: OrderedReduction) -> None:
        reduction.write(self.folding, self, node)

    def _index(self, node: IndexLet) -> None:
        self.variables[node.index] = self.builder.variable(self.scalar(node.value))

    def _repeated(self, node: RepeatedStep) -> None:
        """A loop of turns, for each of the vectors that take turns together."""
        along, bodies = self.along, tuple(store.value for store in stores_in(node.body))
        vectors = repeat.parts(self.builder, self.variables, along, node.width)
        turns = repeat.Turns(self.builder, self.repeats[bodies], self.tables[bodies], vectors)
        before = self.variables[along]
        for vector, values in turns.write():
            whole, self.builder.lanes = self.builder.lanes, vector.lanes
            self.variables[along] = vector.here[along]
            self.write(node.body, self.places(node.body), values)
            self.builder.lanes = whole
        self.variables[along] = before

    # -- blocks of units ------------------------------------------------------------------------

    def _finish(self) -> str:
        """A function that combines the blocks of every sink; empty where there is none."""
        if not self.units.partials:
            return ""
        loops = Loops(avx512=self.builder.avx512)
        folding, place = Folding(loops.memory), self.words.place
        for node in self.units.params:
            loops.builder.scopes[0].memo[(node, 1)] = loops.argument(
                place(Word.param(node.attr)), node.dtype
            )
        for each in self.units.partials:
            partial = loops.argument(place(Word("partial", each.buffer)), None)
            result = loops.argument(place(Word("pointer", each.buffer)), None)
            dtype = component(self.tree.declared.buffers[each.buffer].dtype)
            finish(loops, each, dtype, partial, result, folding)
        return loops.text("finish")


ArrayEmission.written = Emission.written | {
    Section: ArrayEmission._section,
    Together: ArrayEmission._stored,
    RepeatedStep: ArrayEmission._repeated,
    OrderedReduction: ArrayEmission._reduction,
    IndexLet: ArrayEmission._index,
    WindowStart: ArrayEmission.open_window,
}

"""The loop tree of a kernel of arrays as LLVM text: one function for a part of the units, and one
that combines what was reduced over units (`finish`).

Arguments arrive as 64-bit words in the order of `Module.words`;
the function runs units [lo, hi).  Everything about loops is decided in the tree
(`codegen.trees.arrays`); each expression goes as far out as its operands allow.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.codegen import reduction, repeat
from fusewright.codegen.arguments import Arguments
from fusewright.codegen.derived import Bodies, Derived
from fusewright.codegen.fold import Folding, finish
from fusewright.codegen.loops import Loops, at
from fusewright.codegen.module import Module, Word
from fusewright.codegen.prelude import prelude
from fusewright.ir.dtypes import component
from fusewright.ir.expr import Expr
from fusewright.ir.loops.statements import Store
from fusewright.ir.tree.nodes import (
    Branch,
    MappedLoop,
    Node,
    OrderedReduction,
    PairedStore,
    RepeatedStep,
    Section,
    Together,
    Tree,
    stores_in,
    walk,
)
from fusewright.ir.tree.units import IndexLet, WindowStart

ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" }\n!0 = !{i32 1}'
Stores = Sequence[Store | PairedStore]


def module_of(tree: Tree, vector_bytes: int, derived: Derived | None = None) -> Module:
    """The tree's module for machine vectors of this many bytes; what is `derived` already is not
    derived again.
    """
    return ArrayEmission(tree, vector_bytes, derived or Derived()).module()


class ArrayEmission(Arguments):
    """One tree being written."""

    along = 0
    """The index of the vector loop being written."""

    def module(self) -> Module:
        self.start()
        self.tables = {
            bodies: repeat.fill_table(self.builder, one, self.words_of[bodies])
            for bodies, one in self.repeats.items()
        }
        self.block(self.tree.body)
        if any(loop.lanes.nontemporal for loop in self._loops() if loop.lanes is not None):
            self.builder.line("call void @llvm.x86.sse.sfence()")
        text = self.text("kernel")
        ending = self._finish()
        text = f"{text}{ending}"
        full = f"{text}\n{prelude(text)}\n{ATTRIBUTES}\n"
        buffers = self.tree.declared.buffers
        partials = tuple(
            (each.buffer, each.size, component(buffers[each.buffer].dtype).itemsize)
            for each in self.units.partials
        )
        return Module(full, tuple(self.words), tuple(self.scratch), bool(ending), partials)

    def _loops(self) -> list[MappedLoop | OrderedReduction]:
        nodes = walk(self.tree.body)
        return [node for node in nodes if isinstance(node, MappedLoop | OrderedReduction)]

    def block(self, body: Sequence[Node]) -> None:
        """The nodes, one after the other."""
        for node in body:
            match node:
                case MappedLoop():
                    self._mapped(node)
                case Store() | PairedStore():
                    self._together((node,))
                case Together():
                    self._together(node.body)
                case RepeatedStep():
                    self._repeated(node)
                case OrderedReduction():
                    reduction.write(self.folding, self, node)
                case Section():
                    with self.builder.when("true"):
                        self.block(node.body)
                case Branch():
                    with self.builder.when(self.register(node.condition)):
                        self.block(node.body)
                case IndexLet():
                    register = self.register(node.value)
                    self.variables[node.index] = self.builder.variable(register)
                case WindowStart():
                    self.open_window(node)
                case _:
                    raise TypeError(type(node))

    def _mapped(self, loop: MappedLoop) -> None:
        bounds, lanes = (self.register(loop.low), self.register(loop.high)), loop.lanes
        if lanes is None:
            with self.builder.loop(*bounds, 1) as here:
                self.variables[loop.index] = here.variable
                self.block(loop.body)
            return

        def statement(variable: Expr) -> None:
            self.variables[loop.index] = variable
            self.block(loop.body)

        self.along = loop.index
        with self.past_caches(lanes):
            self.vector_loop(*bounds, lanes.width, statement, self.origin(lanes))

    # -- stores ---------------------------------------------------------------------------------

    def _together(self, stores: Stores) -> None:
        bodies = self.derived.primitives(_bodies(stores))
        self._write(stores, [self.builder.emit(at(body, self.variables)) for body in bodies])

    def _write(self, stores: Stores, values: Sequence[str]) -> None:
        """Store registers; the two parts of a complex number together."""
        left = iter(values)
        for store in stores:
            if isinstance(store, Store):
                where = [at(i, self.variables) for i in store.indices]
                self.memory.store(store.buffer, where, next(left), store.value.dtype)
                continue
            first = store.first
            where = [at(i, self.variables) for i in first.indices[:-1]]
            parts = next(left), next(left)
            self.memory.store_parts(first.buffer, where, parts, first.value.dtype)

    def _repeated(self, node: RepeatedStep) -> None:
        """A loop of turns, for each of the vectors that take turns together."""
        along, bodies = self.along, _bodies(node.body)
        vectors = repeat.parts(self.builder, self.variables, along, node.width)
        turns = repeat.Turns(self.builder, self.repeats[bodies], self.tables[bodies], vectors)
        before = self.variables[along]
        for vector, values in turns.write():
            whole, self.builder.lanes = self.builder.lanes, vector.lanes
            self.variables[along] = vector.here[along]
            self._write(node.body, values)
            self.builder.lanes = whole
        self.variables[along] = before

    # -- blocks of units ------------------------------------------------------------------------

    def _finish(self) -> str:
        """A function that combines the blocks of every sink; empty where there is none."""
        if not self.units.partials:
            return ""
        loops = Loops(avx512=self.builder.avx512)
        folding = Folding(loops.memory)
        for node in self.units.params:
            loops.builder.scopes[0].memo[(node, 1)] = loops.argument(
                self.word(Word.param(node.attr)), node.dtype
            )
        for each in self.units.partials:
            partial = loops.argument(self.word(Word("partial", each.buffer)), None)
            result = loops.argument(self.word(Word("pointer", each.buffer)), None)
            dtype = component(self.tree.declared.buffers[each.buffer].dtype)
            finish(loops, each, dtype, partial, result, folding)
        return loops.text("finish")


def _bodies(stores: Stores) -> Bodies:
    return tuple(store.value for store in stores_in(stores))

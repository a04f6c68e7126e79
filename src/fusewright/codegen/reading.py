"""Reading in a kernel: arguments, variables, and elements of arrays.  In kernels of loops those are
read where a statement stands, in kernels of arrays as far out as their indices allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from fusewright.codegen.derived import Derived
from fusewright.codegen.loops import Loops, at
from fusewright.codegen.memory import Layout
from fusewright.codegen.module import Word, Words
from fusewright.codegen.spell import llvm_type
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, const, postorder, rebuild
from fusewright.ir.loops.statements import Check, Print
from fusewright.ir.nest import Buffer
from fusewright.ir.tree.nodes import Allocate, Tree, expressions, stored, walk


class Reading(Loops):
    """The state of a kernel being written, and its expressions.

    `values` is what variables with one value stand for, `cells` where the others live.  `chosen`
    are the lanes that run inside a mask.  What is `derived` already is not derived again.
    """

    def __init__(self, tree: Tree, avx512: bool, derived: Derived | None = None) -> None:
        super().__init__(avx512)
        self.tree = tree
        self.kernel = tree.declared
        self.derived = derived or Derived()
        self.in_order = tree.units is None
        self.words = Words()
        self.variables: dict[int, Expr] = {}
        self.values: dict[int, Expr] = {}
        self.cells: dict[int, str] = {}
        self.chosen: Expr | None = None
        self.report = self.show = ""
        self.blocks: list[str] = []

    def arguments(self) -> None:
        """Read the argument words, and know where buffers lie."""
        kernel = self.kernel
        inside = list(walk(self.tree.body))
        roots = [e for node in inside for e in expressions(node)]
        used = stored(self.tree.body) | {n.attr for n in postorder(roots) if n.name == "load"}
        for number in used:
            buffer = kernel.buffers[number]
            roots += [*buffer.extents, *(buffer.strides or ())]
        self.read_parameters(roots)
        for number in sorted(used - kernel.scratch):
            self.lay(number, self.given(Word("pointer", number), None))
        if any(isinstance(node, Check) for node in inside):
            self.report = self.given(Word("report"), None)
        if any(isinstance(node, Print) for node in inside):
            self.show = self.given(Word("print"), None)

    def lay(self, number: int, base: str) -> None:
        """Know where a buffer lies."""
        streamed = number in self.tree.streamed
        buffer = self._settled_extents(self.kernel.buffers[number])
        self.memory.layouts[number] = Layout(base, buffer, streamed=streamed)
        self.memory.fetches |= streamed

    def _settled_extents(self, buffer: Buffer) -> Buffer:
        """The buffer, its sizes in primitives: those of new arrays are any arithmetic."""
        extents = self.derived.primitives(buffer.extents)
        return replace(buffer, extents=tuple(extents))

    def read_parameters(self, roots: Sequence[Expr]) -> None:
        """The parameters that expressions name."""
        params = {node.attr: node for node in postorder(roots) if node.name == "param"}
        for number in sorted(params):
            register = self.given(Word("param", number), params[number].dtype)
            self.builder.scopes[0].memo[(params[number], 1)] = register

    def given(self, word: Word, dtype: DType | None) -> str:
        """The register of an argument; a pointer where there is no dtype."""
        return self.argument(self.words.place(word), dtype)

    def allocate(self, room: Allocate) -> None:
        """Room for an array of the kernel's own."""
        buffer = self.kernel.buffers[room.number]
        total = reduce(linear.times, buffer.extents, const(buffer.dtype.itemsize, INT64))
        if room.scope == "stack":
            self.lay(room.number, self.builder.slot(f"[{linear.constant(total)} x i8]"))
            return
        size = self.builder.value(f"add i64 {self.scalar(total)}, 63")
        block = self.builder.value(f"call ptr @malloc(i64 {size})")
        self.blocks.append(block)
        address = self.builder.value(f"ptrtoint ptr {block} to i64")
        address = self.builder.value(f"add i64 {address}, 63")
        address = self.builder.value(f"and i64 {address}, -64")
        self.lay(room.number, self.builder.value(f"inttoptr i64 {address} to ptr"))

    def text(self, name: str, first: str = "%args") -> str:
        """The function, which gives back what it has allocated."""
        for block in self.blocks:
            self.builder.line(f"call void @free(ptr {block})")
        return super().text(name, first)

    # -- expressions ----------------------------------------------------------------------------

    def settled(self, root: Expr) -> Expr:
        """The expression in primitives, with every variable, and where nodes run in order every
        load, read here and now.
        """
        (root,) = self.derived.primitives([root])
        if not self.in_order:
            return at(root, self.variables)
        memo: dict[Expr, Expr] = {}
        for node in postorder([root]):
            if node.name == "index":
                memo[node] = self.variables[node.attr]
            elif node.name == "local":
                memo[node] = self.read_variable(node)
            else:
                fresh = rebuild(node, tuple(memo[arg] for arg in node.args))
                memo[node] = self._load(fresh) if node.name == "load" else fresh
        return memo[root]

    def read_variable(self, node: Expr) -> Expr:
        """A variable's value here and now."""
        known = self.values.get(node.attr)
        if known is not None:
            return known
        kind = llvm_type(node.dtype, 1)
        register = self.builder.value(f"load {kind}, ptr {self.cell(node.attr)}")
        return self.builder.variable(register, node.dtype)

    def cell(self, number: int) -> str:
        if number not in self.cells:
            dtype = self.kernel.locals[number].dtype
            self.cells[number] = self.builder.slot(llvm_type(dtype, 1))
        return self.cells[number]

    def _load(self, node: Expr) -> Expr:
        builder = self.builder
        lanes = builder.lanes
        # Under a mask an element that is the same for all lanes may not exist.
        if lanes is not None and (self.chosen or any(map(builder.is_vector, node.args))):
            return builder.lane_variable(self.memory.load(node, lanes.width), node.dtype)
        builder.lanes = None
        found = builder.variable(self.memory.load(node, 1), node.dtype)
        builder.lanes = lanes
        return found

    def scalar(self, root: Expr) -> str:
        """The register of an expression that is the same for all lanes."""
        return self.builder.scalar(self.settled(root))

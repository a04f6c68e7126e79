"""The loop tree of a kernel as LLVM text: its nodes in program order, one function, and one more
for each loop whose iterations are divided among threads.  What only the trees of arrays have is
`codegen.lower`'s.

Variables, and in kernels of loops loads, are read where a node stands, and what is computed from
them may move out of loops it does not change in.  Everything else about loops is decided in the
tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from fusewright.codegen.builder import Scope
from fusewright.codegen.derived import Derived
from fusewright.codegen.module import Module, Word
from fusewright.codegen.pairs import updated
from fusewright.codegen.prelude import prelude
from fusewright.codegen.spell import llvm_type
from fusewright.codegen.tasks import Tasks
from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import Expr
from fusewright.ir.loops.statements import Check, Leave, Let, Print, Store, expressions
from fusewright.ir.tree.nodes import (
    Allocate,
    Branch,
    Labelled,
    MappedLoop,
    MaskedBlock,
    Node,
    PairedStore,
    Tree,
    WhileLoop,
    stores_in,
    walk,
)

OUTSIDE = "declare ptr @malloc(i64)\ndeclare void @free(ptr)"
ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" }\n!0 = !{i32 1}'


Stores = Sequence[Store | PairedStore]
FORMS = ("fused", "apart")
"""The functions of a kernel that has two forms."""


def lower(tree: Tree, avx512: bool) -> Module:
    """The tree's module."""
    forms = [Emission(form, avx512) for form in tree.forms]
    main = forms[0] if tree.guard is None else _choice(tree, forms, avx512)
    for form in forms[1:]:
        form.share(main)
    for form in forms:
        form.arguments()
    if any(form.has_tasks for form in forms):
        main.words.place(Word("team"))
    names = ("kernel",) if tree.guard is None else FORMS
    texts = [form.module(name) for form, name in zip(forms, names, strict=True)]
    functions = [*names, *(task.name for form in forms for task in form.tasks)]
    if tree.guard is not None:
        texts.append(main.text("kernel"))
        functions.append("kernel")
    text = "\n".join(texts)
    full = f"{text}\n{prelude(text)}\n{OUTSIDE}\n{ATTRIBUTES}\n"
    return Module(
        full, tuple(main.words.every), checks=tuple(main.checks), prints=tuple(main.prints),
        functions=tuple(functions),
    )  # fmt: skip


def _choice(tree: Tree, forms: Sequence[Emission], avx512: bool) -> Emission:
    """The function that looks which form is right, counts, and calls it."""
    assert tree.guard is not None
    choice = Emission(replace(tree, body=()), avx512)
    for form, name in zip(forms, FORMS, strict=True):
        form.share(choice)
        form.prefix = f"{name}_"
    choice.choose(tree.guard)
    return choice


class Emission(Tasks):
    """One tree being written; `written` says how each kind of node is."""

    written: ClassVar[dict[type, Callable[..., None]]]

    def __init__(self, tree: Tree, avx512: bool, derived: Derived | None = None) -> None:
        super().__init__(tree, avx512, derived)
        self.checks: list[Check] = []
        self.prints: list[Print] = []
        self.ends: dict[int, str] = {}

    @property
    def has_tasks(self) -> bool:
        """Whether a loop runs on threads."""
        return any(isinstance(n, MappedLoop) and n.threads for n in walk(self.tree.body))

    def share(self, other: Emission) -> None:
        """Have the arguments, checks and prints of a function that belongs to the same kernel."""
        self.words, self.checks, self.prints = other.words, other.checks, other.prints

    def module(self, name: str) -> str:
        """The function and its tasks."""
        if self.has_tasks:
            self.team = self.given(Word("team"), None)
        self.block(self.tree.body)
        return "\n".join([self.text(name), *(task.text for task in self.tasks)])

    def choose(self, test: Expr) -> None:
        """Call the one function or the other."""
        builder = self.builder
        self.read_parameters([test])
        counts = self.given(Word("counts"), None)
        holds = self.scalar(test)
        for name, part in zip(FORMS, ("then", "else"), strict=True):
            if part == "then":
                builder.line(f"br i1 {holds}, label %then, label %else")
            builder.line(f"{part}:")
            place = builder.value(f"getelementptr i64, ptr {counts}, i64 {FORMS.index(name)}")
            count = builder.value(f"load i64, ptr {place}")
            more = builder.value(f"add i64 {count}, 1")
            builder.line(f"store i64 {more}, ptr {place}")
            builder.line(f"call void @{name}(ptr %args, i64 %lo, i64 %hi, ptr %scratch)")
            builder.line("br label %end")
        builder.line("end:")

    # -- statements -----------------------------------------------------------------------------

    def block(self, body: Sequence[Node]) -> None:
        """The nodes, one after the other."""
        for node in body:
            self.written[type(node)](self, node)

    def let(self, statement: Let) -> None:
        if self.builder.lanes is not None:
            self.let_in_lanes(statement)
            return
        value = self.settled(statement.value)
        if not self.kernel.locals[statement.local].mutable:
            self.values[statement.local] = value
            return
        register = self.builder.scalar(value)
        kind = llvm_type(value.dtype, 1)
        self.builder.line(f"store {kind} {register}, ptr {self.cell(statement.local)}")

    def store(self, node: Store | PairedStore) -> None:
        """An element, or both parts of a complex number."""
        self.together((node,))

    def together(self, stores: Stores) -> None:
        """All values before the first is stored."""
        places = self.places(stores)
        values = [self.updated(each) for each in stores_in(stores)]
        self.write(stores, places, values)

    def updated(self, store: Store) -> str:
        """The register of what an element gets."""
        return self.builder.emit(self.settled(updated(store)))

    def places(self, stores: Stores) -> list[list[Expr]]:
        """Where stores write; of a complex number, whatever the part."""
        indices = [
            each.indices if isinstance(each, Store) else each.first.indices[:-1] for each in stores
        ]
        return [[self.settled(place) for place in one] for one in indices]

    def write(self, stores: Stores, places: list[list[Expr]], values: Sequence[str]) -> None:
        """Store registers."""
        left = iter(values)
        for each, where in zip(stores, places, strict=True):
            if isinstance(each, Store):
                self.memory.store(each.buffer, where, next(left), each.value.dtype)
            else:
                first, parts = each.first, (next(left), next(left))
                self.memory.store_parts(first.buffer, where, parts, first.value.dtype)
            self.memory.writes += self.in_order

    def branch(self, statement: Branch) -> None:
        builder = self.builder
        register = self.scalar(statement.condition)
        if not statement.orelse:
            with builder.when(register):
                self.block(statement.body)
            return
        name = builder.label()
        regions = [self._region(body) for body in (statement.body, statement.orelse)]
        # Only now: writing the regions may have put invariant values in front of them.
        builder.line(f"br i1 {register}, label %{name}.then, label %{name}.else")
        for lines, part in zip(regions, ("then", "else"), strict=True):
            builder.line(f"{name}.{part}:")
            builder.scopes[-1].lines += [*lines, f"br label %{name}.end"]
        builder.line(f"{name}.end:")

    def _region(self, body: Sequence[Node]) -> list[str]:
        """The lines of a block of its own."""
        scope = Scope(guard=True)
        self.builder.scopes.append(scope)
        self.block(body)
        self.builder.scopes.pop()
        return scope.lines

    def labelled(self, statement: Labelled) -> None:
        builder = self.builder
        self.ends[statement.label] = f"{builder.label()}.end"
        lines = self._region(statement.body)
        end = self.ends[statement.label]
        builder.scopes[-1].lines += [*lines, f"br label %{end}", f"{end}:"]

    def leave(self, statement: Leave) -> None:
        self._jump(f"br label %{self.ends[statement.label]}")

    def _jump(self, text: str) -> None:
        """An instruction that nothing follows; what is written next is never reached."""
        self.builder.line(text)
        self.builder.line(f"{self.builder.label()}.dead:")

    def repeated(self, statement: WhileLoop) -> None:
        builder = self.builder
        name = builder.label()
        scope = Scope(guard=True)
        builder.scopes.append(scope)
        self.block(statement.head)
        condition = self.scalar(statement.condition)
        builder.line(f"br i1 {condition}, label %{name}.body, label %{name}.end")
        builder.line(f"{name}.body:")
        self.block(statement.body)
        builder.scopes.pop()
        builder.scopes[-1].lines += [
            f"br label %{name}.head", f"{name}.head:", *scope.lines,
            f"br label %{name}.head", f"{name}.end:",
        ]  # fmt: skip

    def mapped(self, loop: MappedLoop) -> None:
        """A loop: a task where there may be one, else by this thread."""
        if loop.threads is not None:
            self.on_threads(loop, loop.threads)
        else:
            self.loop(loop, (self.scalar(loop.low), self.scalar(loop.high)))

    def room(self, node: Allocate) -> None:
        """Room for an array, or for a variable in lanes."""
        if node.scope == "register":
            self.widen(node)
        else:
            self.allocate(node)

    # -- effects --------------------------------------------------------------------------------

    def print(self, statement: Print) -> None:
        values = expressions(statement)
        cells = self.builder.slot(f"[{max(len(values), 1)} x i64]")
        for place, value in enumerate(values):
            self._put(cells, place, value)
        site = len(self.prints)
        self.prints.append(statement)
        self.builder.line(f"call void {self.show}(i64 {site}, ptr {cells})")

    def _put(self, base: str, place: int, root: Expr) -> None:
        """A number into a word of 8 bytes."""
        register = self.scalar(root)
        kind = llvm_type(root.dtype, 1)
        if root.dtype is BOOL:
            register, kind = self.builder.value(f"zext i1 {register} to i8"), "i8"
        pointer = self.builder.value(f"getelementptr i64, ptr {base}, i64 {place}")
        self.builder.line(f"store {kind} {register}, ptr {pointer}, align 8")

    def check(self, statement: Check) -> None:
        builder = self.builder
        condition = self.scalar(statement.condition)
        name = builder.label()
        builder.scopes.append(Scope(guard=True))
        self.checks.append(statement)
        builder.line(f"store i64 {len(self.checks)}, ptr {self.report}")
        values = (*statement.values, *(value for _, value in statement.loops))
        for place, value in enumerate(values):
            assert not value.dtype.is_complex
            self._put(self.report, place + 1, value)
        lines = builder.scopes.pop().lines
        builder.line(f"br i1 {condition}, label %{name}.right, label %{name}.wrong")
        builder.line(f"{name}.wrong:")
        builder.scopes[-1].lines += [*lines, "ret void", f"{name}.right:"]


Emission.written = {
    Let: Emission.let,
    Store: Emission.store,
    PairedStore: Emission.store,
    MappedLoop: Emission.mapped,
    WhileLoop: Emission.repeated,
    Branch: Emission.branch,
    MaskedBlock: Emission.masked,
    Labelled: Emission.labelled,
    Leave: Emission.leave,
    Print: Emission.print,
    Check: Emission.check,
    Allocate: Emission.room,
}

"""Whether a kernel of loops is well formed; nothing is repaired.

Names are defined before they are used, indices belong to a loop around them, ranks and dtypes fit,
and what is left is around.
"""

from __future__ import annotations

from collections.abc import Collection

from fusewright.base.errors import InternalError
from fusewright.ir import ops
from fusewright.ir.dtypes import BOOL, INT64, component
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import (
    Block,
    Check,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Print,
    Statement,
    Store,
    While,
    blocks,
    expressions,
)
from fusewright.ir.nest import Buffer


def check_kernel(kernel: Kernel) -> None:
    """Raise an `InternalError` that names the statement and what is wrong with it."""
    KernelChecker(kernel).run()


class KernelChecker:
    """What is defined where the checker stands, and the questions; stores may combine by
    `combines`.
    """

    combines: Collection[str] = ops.MAP

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.indices: set[int] = set()
        self.labels: set[int] = set()
        self.defined: set[int] = set()

    def run(self) -> None:
        """Look at all of it."""
        self.head()
        self._block(self.kernel.body)

    def head(self) -> None:
        """Look at what the kernel declares."""
        kernel = self.kernel
        self.require(len(kernel.arguments) == len(kernel.dtypes), "parameters without a dtype")
        for number, buffer in enumerate(kernel.buffers):
            self.require(buffer.slot == number, f"buffer {number} calls itself {buffer.slot}")
            for extent in (*buffer.extents, *(buffer.strides or ())):
                self.expression(extent, "an extent")

    def _block(self, body: tuple[Statement, ...]) -> None:
        before = set(self.defined)
        for statement in body:
            self._statement(statement)
        self.defined = before

    def _statement(self, statement: Statement) -> None:
        where = f"{type(statement).__name__} at line {statement.span[1]}"
        if isinstance(statement, While):
            self._while(statement, where)
            return
        self.leaf(statement, where)
        if isinstance(statement, For):
            self._for(statement, where)
        elif isinstance(statement, Block):
            self.require(statement.label not in self.labels, f"{where}: label twice")
            self.labels.add(statement.label)
            self._block(statement.body)
            self.labels.discard(statement.label)
        elif not isinstance(statement, Print):
            for inner in blocks(statement):
                self._block(inner)

    def leaf(self, statement: Statement, where: str) -> None:
        """What a statement does itself."""
        for expression in expressions(statement):
            self.expression(expression, where)
        if isinstance(statement, Let):
            self._let(statement, where)
        elif isinstance(statement, Store):
            self._store(statement, where)
        elif isinstance(statement, Leave):
            self.require(statement.label in self.labels, f"{where}: no block {statement.label}")
        elif isinstance(statement, If | Check):
            self.require(statement.condition.dtype is BOOL, f"{where}: not a condition")

    def _while(self, statement: While, where: str) -> None:
        """What the head defines is there for the condition and the body."""
        before = set(self.defined)
        for inner in statement.head:
            self._statement(inner)
        self.expression(statement.condition, where)
        self.require(statement.condition.dtype is BOOL, f"{where}: not a condition")
        self._block(statement.body)
        self.defined = before

    def _let(self, statement: Let, where: str) -> None:
        number = statement.local
        self.require(0 <= number < len(self.kernel.locals), f"{where}: no variable {number}")
        local = self.kernel.locals[number]
        self.require(local.dtype is statement.value.dtype, f"{where}: {local.name} has a dtype")
        again = number in self.defined and not local.mutable
        self.require(not again, f"{where}: {local.name} is defined twice")
        self.defined.add(number)

    def _store(self, statement: Store, where: str) -> None:
        known = 0 <= statement.buffer < len(self.kernel.buffers)
        self.require(known, f"{where}: no buffer {statement.buffer}")
        buffer = self.kernel.buffers[statement.buffer]
        self.require(self.fits(buffer, len(statement.indices)), f"{where}: rank")
        known = statement.value.dtype in (buffer.dtype, component(buffer.dtype))
        self.require(known, f"{where}: dtype of the value")
        known = not statement.combine or statement.combine in self.combines
        self.require(known, f"{where}: no op {statement.combine}")

    def _for(self, statement: For, where: str) -> None:
        inside = {dim.index for dim in statement.dims}
        fresh = len(inside) == len(statement.dims) and not inside & self.indices
        self.require(fresh, f"{where}: loop indices are not new")
        self.indices |= inside
        self._block(statement.body)
        self.indices -= inside

    def expression(self, root: Expr, where: str) -> None:
        """Look at an expression."""
        kernel = self.kernel
        for node in postorder([root]):
            if node.name == "index":
                self.require(node.attr in self.indices, f"{where}: {node!r} outside its loop")
            elif node.name == "param":
                number = node.attr[0] if isinstance(node.attr, tuple) else node.attr
                self.require(0 <= number < len(kernel.arguments), f"{where}: no {node!r}")
            elif node.name == "local":
                ready = node.attr in self.defined or kernel.locals[node.attr].mutable
                self.require(ready, f"{where}: {node!r} before its definition")
            elif node.name == "load":
                fits = self.fits(kernel.buffers[node.attr], len(node.args))
                self.require(fits, f"{where}: rank of {node!r}")
                whole = all(arg.dtype is INT64 for arg in node.args)
                self.require(whole, f"{where}: an index of {node!r} is no int64")

    def fits(self, buffer: Buffer, count: int) -> bool:
        """Whether an element has so many indices."""
        return count == len(buffer.extents)

    def require(self, right: bool, what: str) -> None:
        """Raise where something is not right."""
        if not right:
            raise InternalError(f"the kernel is not well formed: {what}", ("record", "verify"))

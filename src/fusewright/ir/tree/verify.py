"""Whether a loop tree is well formed; nothing is repaired.

Beside names, ranks and dtypes: lanes are not inside lanes, nor tasks inside tasks; a task uses
nothing of what is around it but its frame; what loops inside lanes hand on has a value for each
lane; what may end a loop early, prints or branches is not in lanes, masks are nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.errors import InternalError
from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import Let, Store
from fusewright.ir.loops.verify import KernelChecker
from fusewright.ir.tree.nodes import (
    LEAVES,
    Allocate,
    ArrayNode,
    Branch,
    Labelled,
    MappedLoop,
    MaskedBlock,
    Node,
    PairedStore,
    RepeatedStep,
    ThreadMapping,
    Together,
    Tree,
    WhileLoop,
    assigned,
    blocks,
    buffers_of,
    expressions,
    walk,
)

IN_LANES = (
    Let, Store, PairedStore, MappedLoop, MaskedBlock, Allocate, Together, RepeatedStep
)  # fmt: skip
"""What may stand in a vector loop."""


def check_tree(tree: Tree) -> None:
    """Raise an `InternalError` that names the node and what is wrong with it."""
    for form in tree.forms:
        TreeChecker(form).run()
    if (tree.guard is None) != (tree.otherwise is None):
        raise InternalError("a tree has a guard, or another form, alone", ("map", "verify"))


class TreeChecker(KernelChecker):
    """`wide` are the variables with a value for each lane; None outside lanes."""

    is_known_to_lie_well = False
    """Whether what passes the caches needs no anchor."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.declared)
        self.tree = tree
        self.in_task = False
        self.wide: set[int] | None = None
        self.rooms: set[int] = set()

    def run(self) -> None:
        self.head()
        if self.tree.guard is not None:
            self.require(self.tree.guard.dtype is BOOL, "the guard is not a condition")
            self.expression(self.tree.guard, "the guard")
        self.nodes(self.tree.body)

    def nodes(self, body: Sequence[Node]) -> None:
        before = set(self.defined)
        for node in body:
            self._node(node)
        self.defined = before

    def _node(self, node: Node) -> None:
        where = f"{type(node).__name__} at line {node.span[1]}"
        if self.wide is not None:
            self.require(isinstance(node, IN_LANES), f"{where}: cannot be in lanes")
        if isinstance(node, LEAVES):
            self.leaf(node, where)
        elif isinstance(node, Allocate):
            self._allocate(node, where)
        elif isinstance(node, MappedLoop):
            self._loop(node, where)
        elif isinstance(node, WhileLoop):
            self._repeated(node, where)
        elif isinstance(node, Branch | MaskedBlock | Labelled | PairedStore):
            self._other(node, where)
        else:
            self.array_node(node, where)

    def array_node(self, node: ArrayNode, where: str) -> None:
        """What only the trees of arrays have."""
        self.require(False, f"{where}: in a kernel of loops")

    def _other(self, node: Branch | MaskedBlock | Labelled | PairedStore, where: str) -> None:
        for expression in expressions(node):
            self.expression(expression, where)
            self.require(expression.dtype is BOOL, f"{where}: not a condition")
        if isinstance(node, MaskedBlock):
            self.require(self.wide is not None, f"{where}: a mask outside lanes")
        if isinstance(node, Labelled):
            self.require(node.label not in self.labels, f"{where}: label twice")
            self.labels.add(node.label)
        for inner in blocks(node):
            self.nodes(inner)
        if isinstance(node, Labelled):
            self.labels.discard(node.label)

    def _repeated(self, node: WhileLoop, where: str) -> None:
        """What the head defines is there for the condition and the body."""
        before = set(self.defined)
        for inner in node.head:
            self._node(inner)
        self.expression(node.condition, where)
        self.require(node.condition.dtype is BOOL, f"{where}: not a condition")
        self.nodes(node.body)
        self.defined = before

    def _allocate(self, node: Allocate, where: str) -> None:
        if node.scope == "register":
            self.require(self.wide is not None, f"{where}: a value for each lane outside lanes")
            assert self.wide is not None
            self.wide.add(node.number)
            return
        known = node.number in self.kernel.scratch
        self.require(known, f"{where}: b{node.number} is not the kernel's own")
        self.rooms.add(node.number)

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, loop: MappedLoop, where: str) -> None:
        self.require(loop.index not in self.indices, f"{where}: loop indices are not new")
        for expression in expressions(loop):
            self.expression(expression, where)
        self._mapped_once(loop, where)
        around = self.indices, self.labels, self.defined, self.rooms, self.in_task, self.wide
        if loop.threads is not None:
            self._enter_task(loop, loop.threads, where)
        if loop.lanes is not None:
            self.wide = {each.number for each in loop.reductions if each.what == "variable"}
        elif self.wide is not None:
            mutable = {n for n in assigned(loop.body) if self.kernel.locals[n].mutable}
            self.require(mutable <= self.wide, f"{where}: hands on a variable not of each lane")
        self.indices = self.indices | {loop.index}
        self.nodes(loop.body)
        self.indices, self.labels, self.defined, self.rooms, self.in_task, self.wide = around

    def _mapped_once(self, loop: MappedLoop, where: str) -> None:
        if loop.lanes is not None:
            self.require(self.wide is None, f"{where}: lanes inside lanes")
            width = loop.lanes.width
            self.require(width > 1 and not width & (width - 1), f"{where}: {width} lanes")
            aligned = self.is_known_to_lie_well or loop.lanes.anchor is not None
            past = bool(loop.lanes.nontemporal)
            self.require(aligned or not past, f"{where}: stores past the caches without an anchor")
        if loop.threads is not None:
            self.require(not self.in_task, f"{where}: a task inside a task")
            self.require(self.wide is None, f"{where}: a task inside lanes")
        mapped = loop.lanes is not None or loop.threads is not None
        self.require(mapped or not loop.reductions, f"{where}: copies of a serial loop")
        for each in loop.reductions:
            fits = each.what == "variable" or loop.threads is not None
            self.require(fits, f"{where}: lanes cannot copy an array")

    def _enter_task(self, loop: MappedLoop, task: ThreadMapping, where: str) -> None:
        for node in task.frame:
            self.require(node.name in ("index", "local"), f"{where}: {node!r} in a frame")
            self.expression(node, where)
        copied = {each.number for each in loop.reductions if each.what == "variable"}
        known = {n.attr for n in task.frame if n.name == "local"} | copied | assigned(loop.body)
        self._knows(loop, known, where)
        self.rooms = {*task.shared, *(room.number for room in task.own)}
        self._reaches(loop, where)
        self.indices = {node.attr for node in task.frame if node.name == "index"}
        self.defined = {node.attr for node in task.frame if node.name == "local"}
        self.labels, self.in_task = set(), True

    def _knows(self, loop: MappedLoop, known: set[int], where: str) -> None:
        roots: list[Expr] = [e for node in walk(loop.body) for e in expressions(node)]
        read = {node.attr for node in postorder(roots) if node.name == "local"}
        names = ", ".join(f"v{number}" for number in sorted(read - known))
        self.require(read <= known, f"{where}: {names} is not in the frame")

    def _reaches(self, loop: MappedLoop, where: str) -> None:
        missing = (buffers_of(loop.body) & self.kernel.scratch) - self.rooms
        names = ", ".join(f"b{number}" for number in sorted(missing))
        self.require(not missing, f"{where}: {names} is neither shared nor the task's own")

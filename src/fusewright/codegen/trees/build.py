"""A planned kernel as the tree of its loops: which of them are tasks, which run in lanes and how
many, where variables and arrays live, what is masked.

    for i0 in [0, p0):                    for i0 in [0, p0) in lanes of 4:
      if (b0[i0] < 0.0):          ->        v1 = (b0[i0] < 0.0)
        v0 = 1.0                            where v1:
                                              v0 = where(v1, 1.0, v0)

The plan says which loops may run how; printers take the tree as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from fusewright.base.figures import LINE, NEAR
from fusewright.codegen.pairs import in_pairs
from fusewright.codegen.trees.lanes import InnermostStores, lanes_of_loop
from fusewright.codegen.trees.loads import keep_loads
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64, DType
from fusewright.ir.expr import Expr, const, local, op, postorder
from fusewright.ir.loops.statements import (
    Block,
    Dim,
    Fence,
    For,
    If,
    Let,
    Local,
    Statement,
    Store,
    Unique,
    While,
    buffers_of,
    walk,
)
from fusewright.ir.tree import nodes
from fusewright.ir.tree.nodes import (
    Allocate,
    Branch,
    Labelled,
    LaneMapping,
    MappedLoop,
    MaskedBlock,
    Node,
    PairedStore,
    Reduction,
    ThreadMapping,
    Tree,
    WhileLoop,
)
from fusewright.plan.loops.fuse.guards import test_of
from fusewright.plan.loops.plan import LoopPlan

GRAIN = LINE
"""Iterations a thread takes at a time where they are elements, at least: a cache line of bytes."""
ON_STACK = 1 << 16
"""Bytes of an array that may lie on the stack; a larger one, or of unknown size, is allocated."""
MOST_ELEMENTS = NEAR // 8
"""Elements of a copy, at most: it should stay in a thread's own cache."""


def tree_of(plan: LoopPlan, vector_bytes: int) -> Tree:
    """The tree of a plan for machine vectors of this many bytes."""
    tree = _Build(plan, vector_bytes).tree()
    if plan.guard is None or plan.otherwise is None:
        return tree
    guard = test_of(plan.guard, plan.kernel)
    return replace(tree, guard=guard, otherwise=tree_of(plan.otherwise, vector_bytes))


class _Build:
    """One form of a kernel: `wide` are the variables that have a value for each lane, `assigned`
    those given one in the lanes so far; `chosen` is the mask inside branches.
    """

    def __init__(self, plan: LoopPlan, vector_bytes: int) -> None:
        self.plan = plan
        self.kernel = plan.kernel
        self.vector_bytes = vector_bytes
        self.locals = list(plan.kernel.locals)
        self.function: tuple[Statement, ...] = plan.kernel.body
        self.in_task = self.in_lanes = False
        self.wide: set[int] = set()
        self.assigned: set[int] = set()
        self.chosen: Expr | None = None
        self.users = Counter(b for s in walk(plan.kernel.body) for b in buffers_of(s))

    def tree(self) -> Tree:
        kernel = self.kernel
        body = self._block(kernel.body)
        own = self._own_arrays(body, kernel.scratch)
        declared = replace(kernel, locals=tuple(self.locals), body=())
        return keep_loads(Tree(declared, (*own, *body), self._streamed(kernel.body)))

    def _block(self, body: Sequence[Statement]) -> tuple[Node, ...]:
        made: list[Node] = []
        for statement in in_pairs(body) if self.in_lanes else body:
            if isinstance(statement, tuple):
                made.append(PairedStore(*statement, span=statement[0].span))
            elif isinstance(statement, For):
                made += self._loop(statement)
            elif isinstance(statement, If) and self.in_lanes:
                made += self._masks(statement)
            elif isinstance(statement, Let) and self.in_lanes:
                made.append(self._let_in_lanes(statement))
            elif not isinstance(statement, Fence | Unique):  # those spoke to the planner
                made.append(self._statement(statement))
        return tuple(made)

    def _statement(self, statement: Statement) -> Node:
        block, span = self._block, statement.span
        if isinstance(statement, If):
            ways = block(statement.body), block(statement.orelse)
            return Branch(statement.condition, *ways, span)
        if isinstance(statement, While):
            head, body = block(statement.head), block(statement.body)
            return WhileLoop(head, statement.condition, body, span)
        if isinstance(statement, Block):
            return Labelled(statement.label, block(statement.body), span)
        assert isinstance(statement, nodes.LEAVES)
        return statement

    def _fresh(self, name: str, dtype: DType) -> Expr:
        self.locals.append(Local(name, dtype))
        return local(len(self.locals) - 1, dtype)

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, loop: For) -> list[Node]:
        """The nest, and what comes before it: bounds that the body could change."""
        before: list[Node] = self._widened(loop)
        if len(loop.dims) > 1:
            changing = {s.local for s in walk(loop.body) if isinstance(s, Let)}
            first, *rest = loop.dims
            kept = [self._kept(dim, changing, before) for dim in rest]
            loop = replace(loop, dims=(first, *kept))
        return [*before, self._dim(loop, 0)]

    def _kept(self, dim: Dim, changing: set[int], before: list[Node]) -> Dim:
        """An inner dim's bounds are computed once, before the outer dims start."""
        bounds = []
        for bound in (dim.low, dim.high):
            if any(
                node.name == "load" or (node.name == "local" and node.attr in changing)
                for node in postorder([bound])
            ):
                value = self._fresh("bound", INT64)
                before.append(Let(value.attr, bound))
                bound = value
            bounds.append(bound)
        return replace(dim, low=bounds[0], high=bounds[1])

    def _dim(self, loop: For, depth: int) -> Node:
        dim = loop.dims[depth]
        on_threads = not depth and not self.in_task and dim.index in self.plan.threads
        around = self.function
        if on_threads:
            self.in_task, self.function = True, (loop,)
        lanes = None
        if dim.index in self.plan.vectors and not self.in_lanes:
            innermost = depth + 1 == len(loop.dims)
            stores = InnermostStores(self.kernel, self.function, loop) if innermost else None
            room = self.vector_bytes * self.plan.wide.get(dim.index, 1)
            lanes = lanes_of_loop(self.plan, loop, room, stores)
        body = self._body(loop, depth, lanes)
        threads = None
        if on_threads:
            threads = self._threads(loop, body)
            self.in_task, self.function = False, around
        return MappedLoop(
            dim.index, dim.low, dim.high, body, threads, lanes,
            self._reductions(dim, threads is not None, lanes is not None), dim.name, loop.span,
        )  # fmt: skip

    def _body(self, loop: For, depth: int, lanes: LaneMapping | None) -> tuple[Node, ...]:
        if lanes is None:
            return self._inside(loop, depth)
        outside = self.wide, self.assigned
        self.in_lanes, self.assigned = True, set()
        self.wide = set(self.plan.folds.get(loop.dims[depth].index, ()))
        widened = self._widened(loop) if depth + 1 < len(loop.dims) else []
        body = (*widened, *self._inside(loop, depth))
        self.in_lanes, (self.wide, self.assigned) = False, outside
        return body

    def _inside(self, loop: For, depth: int) -> tuple[Node, ...]:
        last = depth + 1 == len(loop.dims)
        return self._block(loop.body) if last else (self._dim(loop, depth + 1),)

    def _reductions(self, dim: Dim, threads: bool, lanes: bool) -> tuple[Reduction, ...]:
        if not (threads or lanes):
            return ()
        variables = self.plan.folds.get(dim.index, {})
        arrays = self.plan.copies.get(dim.index, {}) if threads else {}
        return (
            *(Reduction("variable", number, by) for number, by in variables.items()),
            *(Reduction("array", n, by, most=MOST_ELEMENTS) for n, by in arrays.items()),
        )

    # -- tasks ----------------------------------------------------------------------------------

    def _threads(self, loop: For, body: tuple[Node, ...]) -> ThreadMapping:
        index = loop.dims[0].index
        scratch = {b for s in walk((loop,)) for b in buffers_of(s)} & self.kernel.scratch
        own = {b for b in scratch if self._is_within(b, loop)}
        return ThreadMapping(
            GRAIN if index in self.plan.vectors else 1,
            self.plan.work[index],
            _free(index, body),
            tuple(sorted(scratch - own)),
            tuple(self._rooms(own)),
            self._streamed((loop,)),
        )

    def _is_within(self, buffer: int, loop: For) -> bool:
        """Whether only this loop uses a buffer."""
        return self.users[buffer] == sum(buffer in buffers_of(s) for s in walk((loop,)))

    def _streamed(self, function: Sequence[Statement]) -> frozenset[int]:
        """The large buffers that a function only reads: it fetches them ahead."""
        inside = list(walk(tuple(function)))
        used = {b for s in inside for b in buffers_of(s)}
        stored = {s.buffer for s in inside if isinstance(s, Store)}
        return frozenset(b for b in used - stored if self.kernel.buffers[b].large)

    def _own_arrays(self, body: Sequence[Node], scratch: frozenset[int]) -> list[Allocate]:
        """Room for the arrays that the function uses outside tasks, or shares with them."""
        tasks = (n.threads for n in nodes.walk(body) if isinstance(n, MappedLoop) and n.threads)
        within = {room.number for task in tasks for room in task.own}
        return self._rooms((nodes.buffers_of(body) & scratch) - within)

    def _rooms(self, numbers: set[int] | frozenset[int]) -> list[Allocate]:
        rooms: list[Allocate] = []
        for number in sorted(numbers):
            buffer = self.kernel.buffers[number]
            total = reduce(linear.times, buffer.extents, const(buffer.dtype.itemsize, INT64))
            size = linear.constant(total)
            small = size is not None and size <= ON_STACK
            rooms.append(Allocate(number, "stack" if small else "memory"))
        return rooms

    # -- lanes ----------------------------------------------------------------------------------

    def _widened(self, loop: For) -> list[Node]:
        """The variables that the loop's iterations hand on, one value for each lane."""
        if not self.in_lanes:
            return []
        lets = {s.local for s in walk(loop.body) if isinstance(s, Let)}
        fresh = {n for n in lets if self.kernel.locals[n].mutable} - self.wide
        self.wide |= fresh
        return [Allocate(number, "register") for number in sorted(fresh)]

    def _let_in_lanes(self, let: Let) -> Let:
        number, value = let.local, let.value
        if self.chosen is not None and (number in self.wide or number in self.assigned):
            value = op("where", self.chosen, value, local(number, value.dtype))
        self.assigned.add(number)
        return replace(let, value=value)

    def _masks(self, statement: If) -> list[Node]:
        """The condition as a mask for the one block, and its opposite for the other."""
        holds, outer = self._fresh("mask", BOOL), self.chosen
        made: list[Node] = [Let(holds.attr, statement.condition, statement.span)]
        for body, mask in ((statement.body, holds), (statement.orelse, op("invert", holds))):
            if body:
                self.chosen = mask if outer is None else op("bitwise_and", outer, mask)
                made.append(MaskedBlock(mask, self._block(body), statement.span))
        self.chosen = outer
        return made


def _free(index: int, body: Sequence[Node]) -> tuple[Expr, ...]:
    """What a task uses of the loops and variables around it."""
    inside = list(nodes.walk(body))
    own = {index, *(node.index for node in inside if isinstance(node, MappedLoop))}
    made = nodes.assigned(body)
    found: dict[Expr, None] = {}
    for node in postorder([e for each in inside for e in nodes.expressions(each)]):
        outside = node.name == "index" and node.attr not in own
        if outside or (node.name == "local" and node.attr not in made):
            found[node] = None
    return tuple(found)

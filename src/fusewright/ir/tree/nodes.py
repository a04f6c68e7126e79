"""The loop tree: the statements of a planned kernel with every decision about their loops taken.

It is made once for each target (`codegen.trees`), and printers write it: as LLVM text, as the
loops that `show("loops")` shows.  They decide nothing about loops any more.

    for i0 in [0, p0) on threads grain 1 work (p1 * 900) frame (v0):
      for i1 in [0, p1) in lanes of 4:
        v2 = (b0[i0, i1] < 0.0)
        where v2:
          b1[i0, i1] = 0.0

Statements that run once where they stand (`Let`, `Store`, `Leave`, `Print`, `Check`) are those of
`ir.loops`; nodes with blocks inside are the tree's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops import statements
from fusewright.ir.loops.statements import NOWHERE, Check, Kernel, Leave, Let, Print, Store
from fusewright.ir.tree.lanes import Anchor as Anchor
from fusewright.ir.tree.lanes import LaneMapping as LaneMapping
from fusewright.ir.tree.reduction import FixedOrder as FixedOrder
from fusewright.ir.tree.reduction import OrderedReduction as OrderedReduction
from fusewright.ir.tree.units import IndexLet, Units, WindowStart

RESERVED = ("unrolled", "grid", "block", "cluster")
"""Words for further mappings of loops; no target of today has them."""


Room = Literal["register", "stack", "memory"]


@dataclass(frozen=True, slots=True)
class Allocate:
    """Room until the function or task ends.

    `stack` and `memory` are for an array of the kernel's own; `register` for a variable inside
    lanes, which has a value for each lane that loops inside hand on.
    """

    number: int
    scope: Room
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class ThreadMapping:
    """A loop is a task, which threads run in parts of at least `grain` iterations where its work
    is worth it: `work` is what an iteration costs, in picoseconds.

    `frame` are the indices and variables around it that the task uses, `shared` the kernel's own
    arrays; it sees nothing else of what is around it.  It has arrays of its `own`, and fetches
    buffers ahead that are `streamed`.
    """

    grain: int
    work: Expr
    frame: tuple[Expr, ...] = ()
    shared: tuple[int, ...] = ()
    own: tuple[Allocate, ...] = ()
    streamed: frozenset[int] = frozenset()


Order = Literal["any"]
"""In which order a reduction combines: `any` is for operations whose result does not depend on it,
or where the user has given it free.  What needs its order is a serial loop.
"""


@dataclass(frozen=True, slots=True)
class Reduction:
    """Lanes, or the parts of a task, update a copy each, which begins with what the operation `by`
    does not change; the copies are combined at the end.

    `what` is a variable or an array, by `number`; an array is copied if it has at most `most`
    elements and the work is large beside that, else one thread runs the loop.
    """

    what: Literal["variable", "array"]
    number: int
    by: str
    order: Order = "any"
    most: int = 0


@dataclass(frozen=True, slots=True)
class MappedLoop:
    """`index` runs over [low, high): on threads, in lanes, on threads whose parts are in lanes, or
    one iteration after the other.
    """

    index: int
    low: Expr
    high: Expr
    body: tuple[Node, ...]
    threads: ThreadMapping | None = None
    lanes: LaneMapping | None = None
    reductions: tuple[Reduction, ...] = ()
    name: str = ""
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Branch:
    """One of two blocks; never inside lanes."""

    condition: Expr
    body: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class MaskedBlock:
    """Inside lanes: loads and stores of the block happen in those lanes only where `mask` holds.

    What the block computes, it computes in all lanes.
    """

    mask: Expr
    body: tuple[Node, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class WhileLoop:
    """Run `head`; if the condition then holds run `body`, and again."""

    head: tuple[Node, ...]
    condition: Expr
    body: tuple[Node, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Labelled:
    """Nodes that a `Leave` of the same label ends early."""

    label: int
    body: tuple[Node, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class PairedStore:
    """Both parts of a complex number, written together."""

    first: Store
    second: Store
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Section:
    """Nodes that load nothing before those in front of them have stored."""

    body: tuple[Node, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Together:
    """Stores whose values are all computed before the first of them is stored."""

    body: tuple[Store | PairedStore, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class RepeatedStep:
    """Stores, as `Together`, of values that repeat a step many times: the step is a loop inside the
    vector loop, over vectors of `width`.
    """

    body: tuple[Store | PairedStore, ...]
    width: int
    span: Span = NOWHERE


ArrayNode = IndexLet | WindowStart | Section | Together | RepeatedStep | OrderedReduction
"""What only the trees of arrays have."""
Node = (
    Let | Store | Leave | Print | Check
    | MappedLoop | Branch | MaskedBlock | WhileLoop | Labelled | PairedStore | Allocate | ArrayNode
)  # fmt: skip
LEAVES = (Let, Store, Leave, Print, Check)
ONE_BLOCK = (MappedLoop, MaskedBlock, Labelled, Section)


@dataclass(frozen=True, slots=True)
class Tree:
    """A kernel's declarations, and what runs; `streamed` are the buffers that are fetched ahead
    outside tasks.

    With a `guard` it is right only where that holds; `otherwise` runs elsewhere.  With `units` it
    is called for parts of them.
    """

    declared: Kernel
    body: tuple[Node, ...]
    streamed: frozenset[int] = frozenset()
    guard: Expr | None = None
    otherwise: Tree | None = None
    units: Units | None = None

    @property
    def forms(self) -> tuple[Tree, ...]:
        """The trees of which one runs."""
        return (self,) if self.otherwise is None else (self, self.otherwise)


def blocks(node: Node) -> tuple[tuple[Node, ...], ...]:
    """The blocks a node contains."""
    if isinstance(node, (*ONE_BLOCK, Together, RepeatedStep)):
        return (node.body,)
    if isinstance(node, Branch):
        return (node.body, node.orelse)
    if isinstance(node, OrderedReduction):
        return (node.stores, node.folds)
    if isinstance(node, WhileLoop):
        return (node.head, node.body)
    if isinstance(node, PairedStore):
        return ((node.first, node.second),)
    return ()


def with_blocks(node: Node, inner: Sequence[tuple[Node, ...]]) -> Node:
    """The node around other blocks, as many as `blocks` gives."""
    if isinstance(node, ONE_BLOCK):
        return replace(node, body=inner[0])
    if isinstance(node, Together | RepeatedStep):
        return replace(node, body=tuple(n for n in inner[0] if isinstance(n, Store | PairedStore)))
    if isinstance(node, OrderedReduction):
        stores, folds = (tuple(n for n in body if isinstance(n, Store)) for body in inner)
        return replace(node, stores=stores, folds=folds)
    if isinstance(node, Branch):
        return replace(node, body=inner[0], orelse=inner[1])
    if isinstance(node, WhileLoop):
        return replace(node, head=inner[0], body=inner[1])
    return node


def expressions(node: Node) -> tuple[Expr, ...]:
    """The expressions a node evaluates itself, not those of its blocks."""
    if isinstance(node, LEAVES):
        return statements.expressions(node)
    if isinstance(node, MappedLoop):
        work = () if node.threads is None else (node.threads.work,)
        return (node.low, node.high, *work, *_of_lanes(node.lanes))
    if isinstance(node, OrderedReduction):
        unit = () if node.unit is None else (node.unit,)
        bounds = node.bounds or ()
        return (*node.extents, *node.low, *node.high, *unit, *bounds, *_of_lanes(node.lanes))
    if isinstance(node, Branch | WhileLoop):
        return (node.condition,)
    if isinstance(node, IndexLet):
        return (node.value,)
    if isinstance(node, WindowStart):
        return (node.place,)
    return (node.mask,) if isinstance(node, MaskedBlock) else ()


def _of_lanes(lanes: LaneMapping | None) -> tuple[Expr, ...]:
    if lanes is None:
        return ()
    anchors = lanes.nontemporal if lanes.anchor is None else (*lanes.nontemporal, lanes.anchor)
    origin = () if lanes.origin is None else (lanes.origin,)
    return (*(e for anchor in anchors for e in anchor.indices), *origin)


def walk(body: Sequence[Node]) -> Iterator[Node]:
    """Every node, outer ones first."""
    left = list(reversed(body))
    while left:
        node = left.pop()
        yield node
        for inner in reversed(blocks(node)):
            left += reversed(inner)


def buffers_of(body: Sequence[Node]) -> set[int]:
    """The buffers that nodes load from and store to."""
    roots = [e for node in walk(body) for e in expressions(node)]
    found = {node.attr for node in postorder(roots) if node.name == "load"}
    return found | stored(body)


def stored(body: Sequence[Node]) -> set[int]:
    """The buffers that nodes store to."""
    return {node.buffer for node in walk(body) if isinstance(node, Store)}


def stores_in(body: Sequence[Store | PairedStore]) -> list[Store]:
    """The stores, those of pairs one by one."""
    made: list[Store] = []
    for store in body:
        made += (store,) if isinstance(store, Store) else (store.first, store.second)
    return made


def assigned(body: Sequence[Node]) -> set[int]:
    """The variables that nodes give a value."""
    return {node.local for node in walk(body) if isinstance(node, Let)}

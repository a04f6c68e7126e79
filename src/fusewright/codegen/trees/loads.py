"""Elements that are read again become variables, as long as nothing can have changed them.

    b1[i0] = (b0[i0] * 2.0)            v1 = b0[i0]
    b2[i0] = (b0[i0] + 1.0)     ->     b1[i0] = (v1 * 2.0)
                                       b2[i0] = (v1 + 1.0)

A store changes what it writes, and what is not known to lie apart from that.  What is read inside a
loop, a branch or a mask is known there only; tasks and lanes begin with nothing known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fusewright.codegen.pairs import updated
from fusewright.ir.expr import Expr, load, local, param, postorder, rebuild
from fusewright.ir.loops.statements import Check, Let, Local, Print, Shown, Store
from fusewright.ir.tree.nodes import (
    Branch,
    Labelled,
    MappedLoop,
    MaskedBlock,
    Node,
    PairedStore,
    Tree,
    WhileLoop,
    assigned,
    blocks,
    stored,
    with_blocks,
)

Reads = dict[int, dict[Expr, int]]
"""Reads that still hold, by buffer and by what is read, with their numbers."""


def keep_loads(tree: Tree) -> Tree:
    """The tree with what it reads again in variables."""
    counted = _Pass(tree, Counter())
    counted.block(tree.body)
    if max(counted.uses.values(), default=0) < 2:
        return tree
    made = _Pass(tree, counted.uses)
    body = made.block(tree.body)
    declared = replace(tree.declared, locals=tuple(made.locals))
    return replace(tree, declared=declared, body=body)


class _Pass:
    """A walk over the tree, the same each time; `uses` says how often each read is wanted.

    Reads are numbered as they come.  What a read reads is the load with single-valued variables
    written out, other reads and variables as `param`s of their own.
    """

    def __init__(self, tree: Tree, wanted: Counter[int]) -> None:
        self.kernel = tree.declared
        self.locals = list(tree.declared.locals)
        self.wanted = wanted
        self.uses: Counter[int] = Counter()
        self.reads = 0
        self.available: Reads = {}
        self.kept: dict[int, Expr] = {}
        self.meant: dict[int, Expr] = {}
        self.versions: Counter[int] = Counter()
        self.before: list[Node] = []

    # -- nodes ----------------------------------------------------------------------------------

    def block(self, body: Sequence[Node]) -> tuple[Node, ...]:
        """The nodes, with what is kept for them before each."""
        made: list[Node] = []
        outer, self.before = self.before, made
        for node in body:
            fresh = self._node(node)  # which may put reads in front of it
            made.append(fresh)
        self.before = outer
        return tuple(made)

    def _node(self, node: Node) -> Node:
        match node:
            case Let():
                return self._let(node)
            case Store():
                fresh = self._store(node)
                self._forget({node.buffer})
                return fresh
            case PairedStore():
                pair = replace(node, first=self._store(node.first), second=self._store(node.second))
                self._forget({node.first.buffer})
                return pair
            case Print():
                return replace(node, pieces=tuple(map(self._piece, node.pieces)))
            case Check():
                return self._check(node)
            case MappedLoop():
                return self._loop(node)
            case Branch() | MaskedBlock() | Labelled():
                return self._region(node)
            case WhileLoop():
                return self._while(node)
        return node

    def _let(self, node: Let) -> Let:
        value, meant = self._both(node.value)
        self.versions[node.local] += 1
        if not self.locals[node.local].mutable:
            self.meant[node.local] = meant
        return replace(node, value=value)

    def _store(self, node: Store) -> Store:
        indices = tuple(map(self._one, node.indices))
        value = self._one(updated(node))
        if not node.combine:
            return replace(node, indices=indices, value=value)
        if value.args[0].name == "load":
            return replace(node, indices=indices, value=value.args[1])
        return replace(node, indices=indices, value=value, combine="")

    def _piece(self, piece: str | Shown) -> str | Shown:
        if isinstance(piece, str):
            return piece
        second = None if piece.imaginary is None else self._one(piece.imaginary)
        return replace(piece, value=self._one(piece.value), imaginary=second)

    def _check(self, node: Check) -> Check:
        """What the message shows is read only where the check fails."""
        condition = self._one(node.condition)
        known, wanted = self.available, self.wanted
        self.available, self.wanted = {}, Counter()
        values = tuple(map(self._one, node.values))
        loops = tuple((name, self._one(value)) for name, value in node.loops)
        self.available, self.wanted = known, wanted
        return replace(node, condition=condition, values=values, loops=loops)

    def _loop(self, node: MappedLoop) -> MappedLoop:
        low, high = self._one(node.low), self._one(node.high)
        written, changed = stored(node.body), assigned(node.body)
        self._forget(written, changed)
        known = _copied(self.available)
        if node.threads is not None or node.lanes is not None:
            self.available = {}
        body = self.block(node.body)
        self._back_to(known, written, changed)
        return replace(node, low=low, high=high, body=body)

    def _region(self, node: Branch | MaskedBlock | Labelled) -> Node:
        fresh: Node = node
        if isinstance(node, Branch):
            fresh = replace(node, condition=self._one(node.condition))
        elif isinstance(node, MaskedBlock):
            fresh = replace(node, mask=self._one(node.mask))
        known, inner = _copied(self.available), []
        for body in blocks(node):
            inner.append(self.block(body))
            self.available = _copied(known)
        every = [each for body in blocks(node) for each in body]
        self._back_to(known, stored(every), assigned(every))
        return with_blocks(fresh, inner)

    def _while(self, node: WhileLoop) -> WhileLoop:
        every = (*node.head, *node.body)
        written, changed = stored(every), assigned(every)
        self._forget(written, changed)
        known = _copied(self.available)
        head = list(self.block(node.head))
        outer, self.before = self.before, head
        condition = self._one(node.condition)
        self.before = outer
        body = self.block(node.body)
        self._back_to(known, written, changed)
        return replace(node, head=tuple(head), condition=condition, body=body)

    def _back_to(self, known: Reads, written: set[int], changed: set[int]) -> None:
        """Outside a region again: what was known before it, but for what it changes."""
        self.available = known
        self._forget(written, changed)

    def _forget(self, written: set[int], changed: Iterable[int] = ()) -> None:
        """Elements, and variables, that may have changed."""
        apart = self.kernel.apart
        for buffer in list(self.available):
            if any(buffer == w or not apart(buffer, w) for w in written):
                del self.available[buffer]
        self.versions.update(changed)

    # -- expressions ----------------------------------------------------------------------------

    def _one(self, root: Expr) -> Expr:
        return self._both(root)[0]

    def _both(self, root: Expr) -> tuple[Expr, Expr]:
        """The expression with kept reads, and what it stands for."""
        fresh: dict[Expr, Expr] = {}
        meant: dict[Expr, Expr] = {}
        for node in postorder([root]):
            inner = tuple(fresh[arg] for arg in node.args)
            what = tuple(meant[arg] for arg in node.args)
            if node.name == "load":
                read = load(node.attr, inner, node.dtype)
                fresh[node], meant[node] = self._read(read, load(node.attr, what, node.dtype))
            elif node.name == "local":
                fresh[node], meant[node] = node, self._variable(node)
            else:
                fresh[node], meant[node] = rebuild(node, inner), rebuild(node, what)
        return fresh[root], meant[root]

    def _variable(self, node: Expr) -> Expr:
        known = self.meant.get(node.attr)
        if known is not None:
            return known
        return param(("local", node.attr, self.versions[node.attr]), node.dtype)

    def _read(self, read: Expr, key: Expr) -> tuple[Expr, Expr]:
        known = self.available.setdefault(read.attr, {})
        number = known.get(key)
        if number is None:
            number = known[key] = self.reads
            self.reads += 1
            if self.wanted[number] > 1:
                self.locals.append(Local("kept", read.dtype))
                self.kept[number] = local(len(self.locals) - 1, read.dtype)
                self.before.append(Let(len(self.locals) - 1, read))
        self.uses[number] += 1
        return self.kept.get(number, read), param(("read", number), read.dtype)


def _copied(reads: Reads) -> Reads:
    return {buffer: dict(known) for buffer, known in reads.items()}

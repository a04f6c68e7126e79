"""Array statements between calls of kernels: what a deferred call works on, or what works on a
group's arrays, becomes a call of the group itself.

    t = 2*a + b; kernel(t, c); d = c - a       three members of one group, `t` and `c` in registers

Statements on large arrays join when they are first met.  Smaller ones do once they have come often,
and then the native core lets them (`joins.c`), by what this file has found out: without it they
stay apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import chain
from math import prod
from sys import getrefcount
from typing import Any

from fusewright._core import native
from fusewright.base.options import current
from fusewright.base.values import dataclass
from fusewright.driver import joiners
from fusewright.frontends.arrays import trace
from fusewright.frontends.arrays.core import Handle, wrap
from fusewright.frontends.arrays.survivors import RECENT, TOMBSTONE, bury
from fusewright.ir.graph import (
    ASSEMBLE,
    GATHER,
    IOTA,
    LEAF,
    MAP,
    PART,
    REDUCE,
    SCALAR,
    SCAN,
    VIEW,
    Memory,
    Node,
    contiguous_strides,
    leaf,
)
from fusewright.kernels.binding import Place
from fusewright.kernels.deferred import (
    MOST_SHAPES,
    Kind,
    add_call,
    constant_of,
    group_of,
    new_group,
    related,
)
from fusewright.kernels.groups import Execute
from fusewright.kernels.lowering import NAME, Lowered, NotLowered, lower
from fusewright.machine.record import DEFAULT
from fusewright.plan.stages import by_library
from fusewright.runtime.listening import listeners, watchers
from fusewright.runtime.reuse import is_patch
from fusewright.runtime.trace import WORTH_KEEPING, take

LEAST, AT_ONCE = DEFAULT.joined_often // 8, DEFAULT.joined // 8
"""Elements of a result from which a statement that comes often joins, and from which each does."""
_least, _at_once = LEAST, AT_ONCE
MOST_NODES = 64
"""Operations of a statement, and versions of an array in it."""
_INNER = frozenset({MAP, VIEW, ASSEMBLE, GATHER, IOTA, SCALAR})
_STATEMENT = frozenset({MAP, VIEW, ASSEMBLE, REDUCE, SCAN})

_lowered: dict[Any, Lowered | None] = {}
_kinds: dict[Any, Kind] = {}


def set_least(elements: int = LEAST, at_once: int = AT_ONCE, again: bool = False) -> None:
    """Let statements on as many elements join, and those on so many at once; `again` says that the
    core forgets those it was taught.
    """
    global _least, _at_once
    _least, _at_once = elements, max(elements, at_once)
    if native is not None:
        native.set_joining(_least, _at_once, TOMBSTONE, again)


@dataclass(slots=True)
class _Cut:
    """A value and what is pending below it, down to what is in memory or comes from elsewhere.

    `order` are copies, operands first, with leaves in C order for the nodes at the `edge` (by their
    places); `inner` are the nodes themselves, `uses` how often each is an operand among them.
    """

    order: list[Node] = field(default_factory=list)
    edge: dict[int, Node] = field(default_factory=dict)
    inner: list[Node] = field(default_factory=list)
    uses: Counter[int] = field(default_factory=Counter)
    copies: dict[int, Node] = field(default_factory=dict)

    def add(self, node: Node, is_inner: bool) -> None:
        if is_inner:
            args = tuple(self.copies[id(arg)] for arg in node.args)
            copy = Node(node.kind, node.op, args, node.dtype, node.shape, node.attr, node.value)
            copy.line = node.line
            self.inner.append(node)
            self.uses.update(map(id, node.args))
        else:
            strides = contiguous_strides(node.shape, node.dtype.itemsize)
            copy = leaf(Memory(0, 0, None, True), node.dtype, node.shape, 0, strides)
            self.edge[len(self.order)] = node
        self.copies[id(node)] = copy
        self.order.append(copy)


def join_operands(kind: Kind, handles: Sequence[Handle], lazy: bool, execute: Execute) -> None:
    """Let the statements that a call works on join the group that it is going to join.

    `lazy` says that one of its numbers is pending.
    """
    needed = [h for number, h in enumerate(handles) if number not in kind.overwritten]
    if lazy or not kind.fuses or not any(is_statement(h._node) for h in needed) or not _is_on():
        return
    with trace.lock:
        cuts: list[tuple[Node, _Cut]] = []
        others: list[Node] = []
        for handle in needed:
            cut = cut_below(handle._node) if is_statement(handle._node) else None
            if cut is not None:
                cuts.append((handle._node, cut))
            else:
                others.append(handle._node)
        wholes = _groups(chain(others, *(cut.edge.values() for _, cut in cuts)))
        if wholes is None or len(wholes) > 1:
            return
        if all(_is_plain(node) for node in others):
            whole = wholes[0] if wholes else None
            for root, cut in cuts:
                whole = _join(root, cut, whole, execute)
                if whole is None:
                    return


def join_requested(requested: Sequence[Node]) -> bool:
    """Let statements that are asked for join the group whose arrays they read; whether any did."""
    if not any(is_statement(node) for node in requested) or not _is_on():
        return False
    joined = False
    for node in requested:
        cut = cut_below(node) if is_statement(node) else None
        for whole in (_groups(cut.edge.values()) or ()) if cut is not None else ():
            assert cut is not None
            if _join(node, cut, whole, whole.value.execute) is not None:
                joined = True
                break
    return joined


def is_statement(node: Node) -> bool:
    """Whether a node is a pending statement that may join: on many elements, or one that comes
    often.
    """
    if node.kind not in _STATEMENT or constant_of(node) is not None:
        return False
    size = prod(node.args[0].shape if node.kind in (REDUCE, SCAN) else node.shape)
    return size >= _at_once or (size >= _least and native is not None and native.comes_often(node))


def _is_on() -> bool:
    options = current()
    exact = not (options.contract or options.reassociate or options.verify or options.check)
    return exact and options.fuse and options.target == "cpu" and not trace.is_held()


def _is_plain(node: Node) -> bool:
    """Whether a call may join though it works on this value."""
    return node.kind in (LEAF, PART) or constant_of(node) is not None


def _groups(nodes: Iterable[Node]) -> list[Node] | None:
    """The pending groups that these values are parts of, the last first; None where one of them
    takes no more calls.
    """
    found: dict[int, Node] = {}
    for node in nodes:
        whole = group_of(node)
        if whole is not None:
            if not whole.value.takes_calls:
                return None
            found[id(whole)] = whole
    return list(reversed(found.values()))


def cut_below(root: Node) -> _Cut | None:
    """The slice of a statement; None where it is too long."""
    cut = _Cut()
    bottom = _bottom(root)  # a leaf, a part or a number to be patched is at the edge
    stack = [root]
    while stack:
        node = stack[-1]
        inner = node is root or (_is_inner(node) and not (node is bottom and node.kind == VIEW))
        missing = [arg for arg in node.args if id(arg) not in cut.copies] if inner else ()
        if missing:
            stack.append(missing[0])
            continue
        stack.pop()
        if id(node) not in cut.copies:
            cut.add(node, inner)
            if len(cut.order) > MOST_NODES:
                return None
    return cut


def _bottom(node: Node) -> Node:
    """What the versions of an array start from."""
    while node.kind == ASSEMBLE:
        node = node.args[0]
    return node


def _is_inner(node: Node) -> bool:
    """Whether a value is computed where it is used; what was computed once for another is stored
    when it is needed again (contract 5).
    """
    if node.kind == REDUCE and (node.dtype.is_float or node.dtype.is_complex):
        return False  # it has an order of its own
    if (node.kind != REDUCE and node.kind not in _INNER) or by_library(node):
        return False
    return not node.demands or node.kind not in WORTH_KEEPING


def _join(root: Node, cut: _Cut, whole: Node | None, execute: Execute) -> Node | None:
    """Make a pending value a part of a group (None: a new one); the group, or None where it cannot
    be.
    """
    if whole is not None and not _may_join(root, cut, whole):
        return None
    versions = _versions(root, cut)
    unseen = _are_unseen(versions, cut)
    lowered = _lowered_of(cut, _patched(versions, cut) if unseen else frozenset())
    del versions
    if lowered is None:
        if native is not None:
            native.teach_statement(root, None, (), (), unseen)
        return None
    handles = [wrap(cut.edge[slot]) for slot in lowered.edge]
    handles += [wrap(cut.order[slot]) for slot in lowered.fresh]
    kind = _kind_of(lowered, handles)
    _teach(root, cut, lowered, kind, execute, unseen)
    whole = whole if whole is not None else new_group(NAME, handles[0]._dtype, execute)
    group = whole.value
    relations, operands = related(kind, handles, {}, group.shape, whole)
    values = lowered.values(cut.order)
    parts = add_call(kind, group, relations, len(handles), values, {}, handles)
    whole.args = operands
    (part,) = (part for part in parts if part.number == lowered.root)
    for node in cut.inner:
        node.demands += node.kind in WORTH_KEEPING and node is not root
    root.args, root.attr, root.value, root.op = (whole,), part.output, None, "kernel"
    root.kind = PART
    bury(trace.pending, cut.inner)
    return whole


def _may_join(root: Node, cut: _Cut, whole: Node) -> bool:
    """Whether a group does not wait for a value, nor the slice of it for the group: it may read
    what the group's arrays are now.
    """
    shape, args = whole.value.shape, whole.args
    return not _depends(whole, root) and all(
        shape.number_of(node, whole, args) >= 0 or not _depends(node, whole)
        for node in cut.edge.values()
    )


def _depends(node: Node, other: Node) -> bool:
    """Whether a value depends on another one, or on too much to say."""
    stack, seen = [node], {id(node)}
    while stack:
        for arg in stack.pop().args:
            if arg is other or len(seen) > MOST_NODES:
                return True
            if id(arg) not in seen:
                seen.add(id(arg))
                stack.append(arg)
    return False


def _versions(root: Node, cut: _Cut) -> list[Node]:
    """The versions of an array that a slice makes, the last first."""
    found, node = [], root
    inner = set(map(id, cut.inner))
    while node.kind == ASSEMBLE and id(node) in inner:
        found.append(node)
        node = node.args[0]
    return found


def _patched(versions: Sequence[Node], cut: _Cut) -> frozenset[int]:
    """The versions (slots) that may be written into the memory of the array below them, should
    nobody else see that, or what lies between.
    """
    slots = {copy: slot for slot, copy in enumerate(cut.order)}
    patched = [cut.copies[id(version)] for version in versions]
    below_is_inner = bool(versions) and versions[-1].args[0] in cut.inner
    if below_is_inner or not all(is_patch(copy, slots) for copy in patched):
        return frozenset()
    return frozenset(slots[copy] for copy in patched)


def _are_unseen(versions: Sequence[Node], cut: _Cut) -> bool:
    """Whether nobody else sees what lies between versions, nor the group's array below them."""
    for number in range(len(versions) - 1):
        # besides its uses: two lists, the call
        if _others(versions[number], cut) > 3:
            return False
    # besides its uses: the edge, the call.  (A leaf is looked at when the group runs.)
    is_part = bool(versions) and versions[-1].args[0].kind == PART
    return not is_part or _others(versions[-1], cut) <= 2


def _others(version: Node, cut: _Cut) -> int:
    """References to what a version is made from, but for its uses in the slice and the list's."""
    listed = sum(each is version.args[0] for each in trace.pending[-RECENT:])
    return getrefcount(version.args[0]) - cut.uses[id(version.args[0])] - listed


def _lowered_of(cut: _Cut, patched: frozenset[int]) -> Lowered | None:
    """The kernel of a slice, made once for each structure; for those who listen, who are told its
    lines, once for each place in the program.
    """
    lines = tuple(node.line for node in cut.order) if listeners else ()
    key = (take(cut.order[-1:]).key, tuple(cut.edge), patched, lines)
    if key not in _lowered:
        if len(_lowered) >= MOST_SHAPES:
            _lowered.clear()
            _kinds.clear()  # their keys are ids of these
        try:
            _lowered[key] = lower(cut.order, tuple(cut.edge), patched)
        except NotLowered:
            _lowered[key] = None
    return _lowered[key]


def _teach(
    root: Node, cut: _Cut, lowered: Lowered, kind: Kind, execute: Execute, unseen: bool
) -> None:
    """Let the core do the same with the next statement like this one; while somebody listens the
    next one may stand at another line.
    """
    if native is None or listeners:
        return
    nodes = {cut.copies[id(node)]: node for node in (*cut.inner, *cut.edge.values())}
    numbers = []
    for _, source in sorted(lowered.scalars.items()):
        node = nodes[cut.order[source.slot]]
        what, position = _PLACES[source.what, node.kind == ASSEMBLE]
        numbers.append((what, source.dim, position + 2 * source.piece, node))
    arrays = tuple(range(len(lowered.edge) + len(lowered.fresh)))
    with suppress(ValueError):  # more arrays than the core has room for
        deferral = native.Deferral(
            kind, execute, f"kernel {NAME}", True, arrays, tuple(range(len(numbers))),
            kind.written, tuple(sorted(kind.overwritten)), lowered.root,
        )  # fmt: skip
        edge = tuple(cut.edge[slot] for slot in lowered.edge)
        native.teach_statement(root, deferral, edge, tuple(numbers), unseen)


_PLACES = {
    ("extent", False): (0, 0), ("extent", True): (0, 0), ("scalar", False): (1, 0),
    ("start", False): (2, 1), ("step", False): (2, 2),
    ("start", True): (3, 0), ("step", True): (3, 1),
}  # fmt: skip
"""Where the core finds a number in a node, or in a region: what it is, its place in an entry."""


def _kind_of(lowered: Lowered, handles: Sequence[Handle]) -> Kind:
    key = (id(lowered), tuple(handle._shape for handle in handles))
    known = _kinds.get(key)
    if known is None:
        if len(_kinds) >= MOST_SHAPES:
            _kinds.clear()
        kernel = lowered.found.kernel
        places = {number: Place(number, ()) for number in range(len(handles))}
        fresh = frozenset(range(len(lowered.edge), len(handles)))
        written = tuple(sorted(kernel.written))
        known = _kinds[key] = Kind(None, lowered.found, places, written, fresh, ())
    return known


def _listen(comes: bool) -> None:
    """Statements that the core was taught have no lines: those who listen begin anew."""
    if comes:
        set_least(_least, _at_once, again=True)


watchers.append(_listen)
set_least()
joiners.append(join_requested)

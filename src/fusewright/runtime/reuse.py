"""Whether a new version of an array may take the old one's memory.

`a[region] = value` makes a version that equals the old one outside the region.  If nobody else can
see the old version, and `value` reads it only where it writes (or nowhere near), the region is
written in place, and the statement costs what it costs in NumPy. Everything here is about this very
slice: who holds a reference, which bytes overlap.  The answer is part of the key.

References are counted of what an attribute or an item gives, never of a variable: what a call is
given from a variable it holds once more up to CPython 3.13, and not from 3.14 on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from math import prod
from sys import getrefcount

from fusewright.ir import graph
from fusewright.ir.graph import Node, contiguous_strides
from fusewright.runtime.overlap import Place, all_same, apart, is_leaf_safe
from fusewright.runtime.readers import is_read

CHAIN = 16
"""Versions on top of a pending value before the next one is written in place: fewer are merged into
one pass, if their regions have no gaps."""
MOST_READS = 200
MOST_REPLACED = 8
"""Versions that are made together with the one that replaces them."""

DEAR = frozenset((graph.REDUCE, graph.SCAN, graph.OPAQUE, graph.PRODUCT))
"""Kinds of values that are not computed again while somebody holds them."""

lists: list[Callable[[], Iterable[Node]]] = []
"""The lists that hold what is pending, for whoever counts its holders."""


class Edges:
    """How often the nodes of a growing slice are operands in it, and how often they stand on lists
    of what is pending.
    """

    __slots__ = ("_counts", "_listed", "_seen")

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._listed: Counter[int] | None = None
        self._seen = 0

    def listed(self, node: Node) -> int:
        """The lists that hold a node."""
        if self._listed is None:
            self._listed = Counter(id(each) for nodes in lists for each in nodes())
        return self._listed[id(node)]

    def of(self, node: Node, slots: dict[Node, int]) -> int:
        """The uses of a node by those in the slice so far."""
        fresh = islice(slots, self._seen, None)
        self._counts.update(map(id, chain.from_iterable(n.args for n in fresh)))
        self._seen = len(slots)
        return self._counts[id(node)]


BORROWED = frozenset((graph.RESHAPE, graph.OPAQUE, graph.PART))
"""Kinds of pending values whose memory may be another value's."""

NOT, IN_PLACE, ONCE_STORED = range(3)
"""Whether a new version may be written into the old one's memory: no, yes, or once what is written
has been stored elsewhere."""


def is_reusable(node: Node, slots: dict[Node, int], reusable: set[Node], edges: Edges) -> int:
    """Whether an ASSEMBLE node may be written into its base's memory."""
    if not is_version(node):
        return NOT
    base = node.args[0]
    if base.kind == graph.LEAF:
        if not _is_owned(node, slots, edges):
            return NOT
    else:
        holders = edges.of(base, slots) + edges.listed(base) + (base in reusable)
        if base.kind in BORROWED or not _is_inside(node, holders):
            return NOT
    if _reads_safely(node, slots):
        merged = base.kind != graph.LEAF and base not in reusable and _chain(base) < CHAIN
        return NOT if merged and not _is_strided(node) else IN_PLACE
    # A leaf is stored already; a copy of another piece should be less than one of the whole.
    piece = node.args[1]
    small = 2 * prod(piece.shape) <= prod(node.shape)
    return ONCE_STORED if small and piece.kind != graph.LEAF else NOT


def _is_strided(node: Node) -> bool:
    """Whether a region has gaps: it is a pass of its own in any case."""
    return any(step != 1 for _, step in node.attr[1])


def replaced(base: Node, reusable: set[Node]) -> list[Node]:
    """The versions written in place that another one replaces in the same slice, from memory of its
    own, down to one that writes most of its array anew: the pass that makes the other one makes
    them, too, borders after the inside (`u[1:-1] = ...; u[0] = u[1]`).
    """
    found: list[Node] = []
    count = 0
    while base in reusable and len(found) < MOST_REPLACED and not _is_strided(base):
        found.append(base)
        if 2 * prod(base.args[1].shape) > prod(base.shape):
            count = len(found)
        base = base.args[0]
    return found[:count]


def irreplaceable(reusable: set[Node]) -> set[Node]:
    """The last versions written into the memory of a leaf: what they were made from is gone.  Other
    values that are written in place can be computed again.
    """
    bases = {node.args[0] for node in reusable}
    found = set()
    for node in reusable - bases:
        root = node
        while root in reusable:
            root = root.args[0]
        if root.kind == graph.LEAF:
            found.add(node)
    return found


def asked_for_later(
    slots: dict[Node, int], requested: set[int], again: set[Node], edges: Edges
) -> list[Node]:
    """The results of library steps, reductions and scans that somebody holds besides the slice, or
    that a pending value is computed from which somebody holds: they stay in memory.
    """
    found: list[Node] = []
    nodes = list(slots) if any(node.kind in DEAR for node in slots) else []
    wanted: set[int] = set()
    for number in range(len(nodes) - 1, -1, -1):
        if number in requested or nodes[number].kind in (graph.LEAF, graph.SCALAR):
            continue
        # The dict, the list, the call; the set it may be in.
        holders = 3 + (nodes[number] in again) + edges.listed(nodes[number])
        alone = getrefcount(nodes[number]) <= holders + edges.of(nodes[number], slots)
        if alone and number not in wanted:
            continue
        parts = nodes[number].kind == graph.OPAQUE and nodes[number].attr
        if nodes[number].kind in DEAR and not parts:
            found.append(nodes[number])
        elif nodes[number] not in again:
            wanted.update(slots[arg] for arg in nodes[number].args)
    return found


def endangered(
    slots: dict[Node, int], reusable: set[Node], again: set[Node], edges: Edges
) -> list[Node]:
    """What somebody holds besides the slice and is computed from a value that is lost, because it
    is overwritten in the memory of a leaf: it has to be stored.
    """
    nodes = list(slots)
    rooted: set[Node] = set()
    lost: set[Node] = set()
    for node in nodes:
        if node in reusable and (node.args[0].kind == graph.LEAF or node.args[0] in rooted):
            rooted.add(node)
            lost.add(node.args[0])
    gone = {id(node.value[0]) for node in lost if node.kind == graph.LEAF}
    lost.update(n for n in nodes if n.kind == graph.LEAF and id(n.value[0]) in gone)
    found = []
    for number in range(len(nodes)) if rooted else ():
        node = nodes[number]
        if node in rooted or not any(arg in lost for arg in node.args):
            continue
        del node
        # The dict, the list, the call; the sets it is in.
        holders = (
            3 + (nodes[number] in reusable) + (nodes[number] in again) + (nodes[number] in lost)
        )
        holders += edges.of(nodes[number], slots) + edges.listed(nodes[number])
        if getrefcount(nodes[number]) > holders:
            found.append(nodes[number])
        lost.add(nodes[number])
    return found


def is_patch(node: Node, slots: dict[Node, int]) -> bool:
    """Whether writing an ASSEMBLE node's region into its base's memory gives its value, should
    nobody else see that memory.
    """
    return is_version(node) and _reads_safely(node, slots)


def is_version(node: Node) -> bool:
    """Whether a value is another one with a region written anew."""
    base = node.args[0]
    return base.shape == node.shape and base.dtype is node.dtype and _covers(node)


def _reads_safely(node: Node, slots: dict[Node, int]) -> bool:
    base = node.args[0]
    reads = list(_reads(node.args[1], base, slots))
    return len(reads) < MOST_READS and all(
        _is_safe(base, read, straight, node) for read, straight in reads
    )


def sharing(slots: dict[Node, int], reusable: set[Node]) -> tuple[tuple[int, ...], ...]:
    """The leaves that lie in a memory which is written in place, where there are several: which
    steps may be reordered, and so what the plan refuses, rests on them.
    """
    bases = {id(node.args[0].value[0]) for node in reusable if node.args[0].kind == graph.LEAF}
    found: dict[int, list[int]] = {}
    for node, slot in slots.items() if bases else ():
        if node.kind == graph.LEAF and id(node.value[0]) in bases:
            found.setdefault(id(node.value[0]), []).append(slot)
    return tuple(tuple(leaves) for leaves in found.values() if len(leaves) > 1)


def spare(node: Node, order: Sequence[Node], last: Sequence[bool]) -> frozenset[int]:
    """The operands of a step being run that it may overwrite: no later step needs them (`last`
    says), and only this slice holds them and their memory.
    """
    found = set()
    uses = Counter(map(id, chain.from_iterable(n.args for n in order)))
    for number, ends in enumerate(last):
        leaf = node.args[number]
        if not ends or leaf.kind != graph.LEAF or uses[id(leaf)] > 1 or not is_whole(leaf):
            continue
        # The leaf: the step, the slice twice, this variable, the call.  The memory: the leaf, the
        # run's table, the call.
        if getrefcount(node.args[number]) <= 5 and getrefcount(leaf.value[0]) <= 3:
            found.add(number)
    return frozenset(found)


def _covers(node: Node) -> bool:
    """Whether one region is written over the whole old version."""
    return len(node.args) == 2 and all(start == 0 and step == 1 for start, step in node.attr[0])


def _chain(node: Node) -> int:
    length = 0
    while node.kind == graph.ASSEMBLE and length < CHAIN:
        node, length = node.args[0], length + 1
    return length


def is_whole(leaf: Node) -> bool:
    """Whether a leaf lies without gaps in memory of ours that may be written."""
    memory, _, strides = leaf.value
    straight = contiguous_strides(leaf.shape, leaf.dtype.itemsize)
    return not memory.external and memory.writable and strides == straight


def _is_owned(node: Node, slots: dict[Node, int], edges: Edges) -> bool:
    """Whether only the slice holds, and reads, the leaf that a node is a new version of; where that
    is a part of its memory, another leaf there may be the value of another array.
    """
    leaf = node.args[0]
    if not is_whole(leaf):
        return False
    memory = leaf.value[0]
    here = [each for each in slots if each.kind == graph.LEAF and each.value[0] is memory]
    users = len(here)
    is_part = prod(leaf.shape) * leaf.dtype.itemsize < memory.nbytes
    for at in range(users if is_part else 0):
        # besides: the dict's key, the list, the call
        if here[at] is not leaf and getrefcount(here[at]) > edges.of(here[at], slots) + 3:
            return False
    del here
    # besides: the new version's edge, the dict's key, the caller's and this variable, the call;
    # for the memory the variable and the call
    alone = getrefcount(node.args[0]) <= edges.of(leaf, slots) + 5
    if not alone or getrefcount(leaf.value[0]) > users + 2:
        return False
    return users == 1 or not any(is_read(list(nodes()), memory, {node, *slots}) for nodes in lists)


def _is_inside(node: Node, holders: int) -> bool:
    """Whether only the slice and the lists, which hold it so often, hold the pending value that a
    node is a new version of, and do not store it.
    """
    base = node.args[0]
    # as for a leaf (`_is_owned`)
    return not base.demands and getrefcount(node.args[0]) <= holders + 5


def _reads(piece: Node, base: Node, slots: dict[Node, int]) -> Iterator[tuple[Node, bool]]:
    """Where a piece reads the old version (views of it, other leaves on its memory), and whether
    each of its elements reads only the one there that comes at its place in order.
    """
    memory = base.value[0] if base.kind == graph.LEAF else None
    # operands come first: what stands before a pending value cannot read it
    first = slots[base] if memory is None else 0
    stack = [(piece, True)]
    seen = {(piece, True)}
    while stack:
        here, straight = stack.pop()
        if here is base or (here.kind == graph.VIEW and here.args[0] is base):
            yield here, straight
            continue
        if memory is not None and here.kind == graph.LEAF and here.value[0] is memory:
            yield here, straight
        # A view, a gather or a broadcast may bring any element to any place.
        straight = straight and (here.kind == graph.MAP or _is_plain(here))
        for arg in here.args:
            step = (arg, straight and _long(arg.shape) == _long(here.shape))
            if step not in seen and slots[arg] >= first:
                seen.add(step)
                stack.append(step)


def _long(shape: Iterable[int]) -> list[int]:
    """The extents that are not one: where they are equal, so is the order of the elements."""
    return [extent for extent in shape if extent != 1]


def _is_plain(node: Node) -> bool:
    """Whether a node is a view that but adds dims and drops dims of one element."""
    if node.kind != graph.VIEW:
        return False
    shape = node.args[0].shape
    kept = [(*place, n) for place, n in zip(node.attr, shape, strict=True) if n != 1]
    return _in_order([out for out, *_ in kept]) and all(
        (start, step, node.shape[out]) == (0, 1, n) for out, start, step, n in kept
    )


def _in_order(outs: Sequence[int]) -> bool:
    """Whether dims stay dims, each for itself, in their order."""
    return all(a < b for a, b in pairwise([-1, *outs]))


def _is_safe(base: Node, read: Node, straight: bool, node: Node) -> bool:
    """Whether a read touches none of what the piece writes, or (where it is straight) exactly that,
    element for element.
    """
    region, shape = node.attr[1], node.args[1].shape
    if read is base:
        places: list[Place] = [(0, 1, extent) for extent in base.shape]
    elif read.kind == graph.VIEW:
        outs = [out for (out, _, _), count in zip(read.attr, shape, strict=True) if count != 1]
        straight = straight and _in_order(outs)
        places = [(at, pace, read.shape[out] if out >= 0 else 1) for out, at, pace in read.attr]
    else:
        return is_leaf_safe(base, read, straight, region, shape)
    writes = [(at, pace, count) for (at, pace), count in zip(region, shape, strict=True)]
    if straight and _long(read.shape) == _long(shape) and all_same(writes, places):
        return True
    return any(apart(*write, *place) for write, place in zip(writes, places, strict=True))

"""Which values are computed row by row: products of matrices by their left operands, and what is
done to them element by element or along a row.

A *region* holds such values: all have the same rows (and the same stack of matrices before them),
and none waits for a value outside of the region that is computed from one inside.  So any block of
rows of the whole region can be computed by itself.  No regions wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from fusewright.base.values import dataclass
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.plan.support import why_library

WHOLE = -1
"""The operand is read as a whole by every row, or has one row for all."""


@dataclass(frozen=True, slots=True)
class Region:
    """`dims[slot]` is the dim of a member's value that counts the rows; the dims before it are the
    stack of matrices, those behind it the numbers of a row.
    """

    batch: tuple[int, ...]
    rows: int
    dims: dict[int, int]


def read_along(node: Node, dim: int) -> tuple[int, ...] | None:
    """For each operand the dim that runs along with the dim `dim` of a value, or `WHOLE`; None
    where a row of the value is not computed from the same row of its operands.
    """
    found = _READS.get(node.kind)
    return None if found is None else found(node, dim)


def _map(node: Node, dim: int) -> tuple[int, ...]:
    places = []
    for arg in node.args:
        place = dim - len(node.shape) + len(arg.shape)
        is_along = place >= 0 and arg.shape[place] == node.shape[dim]
        places.append(place if is_along else WHOLE)
    return tuple(places)


def _view(node: Node, dim: int) -> tuple[int, ...] | None:
    (source,) = node.args
    same = source.shape[: dim + 1] == node.shape[: dim + 1]
    plain = all(place == (d, 0, 1) for d, place in enumerate(node.attr[: dim + 1]))
    return (dim,) if same and plain and len(node.attr) > dim else None


def _reduce(node: Node, dim: int) -> tuple[int, ...] | None:
    axes, _ = node.attr
    last = len(node.args[0].shape) - 1
    return (dim,) if axes == (last,) and last > dim else None


def _scan(node: Node, dim: int) -> tuple[int, ...] | None:
    return (dim,) if node.attr > dim else None


def _product(node: Node, dim: int) -> tuple[int, ...] | None:
    left, _ = node.args
    same = left.shape[:-2] == node.shape[:-2]
    return (dim, WHOLE) if same and dim == len(node.shape) - 2 else None


_READS: dict[int, Callable[[Node, int], tuple[int, ...] | None]] = {
    graph.MAP: _map,
    graph.VIEW: _view,
    graph.REDUCE: _reduce,
    graph.SCAN: _scan,
    graph.PRODUCT: _product,
}


def regions(order: Sequence[Node]) -> list[Region]:
    """All regions of a program (operands first) that hold a product, each as large as it can be;
    a value belongs to one at most.
    """
    slots = {id(node): slot for slot, node in enumerate(order)}
    args = [[slots[id(arg)] for arg in node.args] for node in order]
    taken: set[int] = set()
    found: list[Region] = []
    for slot, node in enumerate(order):
        if node.kind == graph.PRODUCT and slot not in taken:
            region = _Growing(order, args, taken, slot).region()
            if found and ordered(args, [each.dims for each in (*found, region)]) is None:
                # Two wait for each other: the new one leaves alone what the others wait for.
                barred = _needed(args, found) - {slot}
                region = _Growing(order, args, taken | barred, slot).region()
                if ordered(args, [each.dims for each in (*found, region)]) is None:
                    region = Region(region.batch, region.rows, {slot: region.dims[slot]})
            taken |= region.dims.keys()
            found.append(region)
    return found


def ordered(args: Sequence[Sequence[int]], groups: Sequence[Collection[int]]) -> list[int] | None:
    """Groups of values in an order in which each stands behind those that it waits for, whatever
    lies between; None where some wait for each other.
    """
    owner = {slot: number for number, group in enumerate(groups) for slot in group}
    waits: list[set[int]] = [set() for _ in groups]
    below: list[frozenset[int]] = []
    """The groups that a value waits for."""
    for slot, operands in enumerate(args):
        through: frozenset[int] = frozenset()
        for arg in operands:
            through |= {owner[arg]} if arg in owner else below[arg]
        below.append(through)
        if slot in owner:
            waits[owner[slot]] |= through - {owner[slot]}
    done: list[int] = []
    while len(done) < len(groups):
        ready = [k for k in range(len(groups)) if k not in done and waits[k].issubset(done)]
        if not ready:
            return None
        done += ready
    return done


def _needed(args: Sequence[Sequence[int]], found: Sequence[Region]) -> set[int]:
    """All values outside of regions that these wait for."""
    inside = {slot for region in found for slot in region.dims}
    needed = set(inside)
    for slot in range(len(args) - 1, -1, -1):
        if slot in needed:
            needed.update(args[slot])
    return needed - inside


class _Growing:
    """A region around one product."""

    def __init__(
        self, order: Sequence[Node], args: Sequence[list[int]], taken: set[int], start: int
    ) -> None:
        self.order = order
        self.args = args
        self.taken = taken
        self.start = start
        shape = order[start].shape
        self.batch, self.rows = shape[:-2], shape[-2]
        self.dims = {start: len(shape) - 2}
        self.dependent: set[int] = set()

    def region(self) -> Region:
        self.pull(self.start, self.dims[self.start])
        while self.sweep():
            pass
        if any(arg in self.dependent for slot in self.dims for arg in self.args[slot]):
            # What was pulled in last is needed by something outside that a member waits for.
            self.dims = {self.start: self.dims[self.start]}
        return Region(self.batch, self.rows, self.dims)

    def sweep(self) -> bool:
        """Add what follows from members; whether anything did."""
        self.dependent = set()
        before = len(self.dims)
        for slot in range(len(self.order)):
            if slot in self.dims:
                continue
            follows = any(a in self.dims or a in self.dependent for a in self.args[slot])
            if follows and not self.joins(slot):
                self.dependent.add(slot)
        return len(self.dims) > before

    def joins(self, slot: int) -> bool:
        """Make a value a member that is computed from members, if it can be one."""
        node, args = self.order[slot], self.args[slot]
        if slot in self.taken or any(arg in self.dependent for arg in args):
            return False
        inside = next(arg for arg in args if arg in self.dims)
        dim = self.dims[inside]
        if node.kind == graph.MAP:
            dim += len(node.shape) - len(self.order[inside].shape)
        places = self.places(slot, dim)
        if places is None or not self.agrees(slot, places):
            return False
        self.dims[slot] = dim
        self.pull(slot, dim)
        return True

    def places(self, slot: int, dim: int) -> tuple[int, ...] | None:
        """How a value reads its operands, if it has the region's rows and is compiled."""
        node = self.order[slot]
        if node.shape[:dim] != self.batch or node.shape[dim : dim + 1] != (self.rows,):
            return None
        if node.kind != graph.PRODUCT and why_library(node):
            return None
        return read_along(node, dim)

    def agrees(self, slot: int, places: tuple[int, ...]) -> bool:
        """Whether members among the operands are read along their rows."""
        pairs = zip(self.args[slot], places, strict=True)
        return all(self.dims.get(arg, place) == place for arg, place in pairs)

    def pull(self, slot: int, dim: int) -> None:
        """Make the operands of a new member members, and theirs, as far as they can be."""
        todo = [(slot, dim)]
        while todo:
            slot, dim = todo.pop()
            places = self.places(slot, dim)
            assert places is not None
            for arg, place in zip(self.args[slot], places, strict=True):
                if arg in self.dims or arg in self.taken or place == WHOLE:
                    continue
                inner = self.places(arg, place)
                if inner is not None and self.agrees(arg, inner):
                    self.dims[arg] = place
                    todo.append((arg, place))

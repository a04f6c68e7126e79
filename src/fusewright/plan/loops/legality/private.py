"""Arrays of a kernel's own of which each iteration has one for itself.

`fw.local` in a loop makes a new array in each iteration; in the statements it is one buffer that
the iterations use in turn.  It belongs to the iterations of the loops around the smallest body that
holds all its uses, if that body begins by giving all its elements a value.
"""

from __future__ import annotations

from math import prod

from fusewright.ir.expr import Expr, index, postorder
from fusewright.ir.loops.statements import (
    For,
    Kernel,
    Statement,
    Store,
    blocks,
    buffers_of,
    expressions,
    walk,
)


class Homes:
    """For each buffer of the kernel's own, the loops around the body it belongs to."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._loops = {number: self._find(number) for number in kernel.scratch}

    def loops(self, buffer: int) -> tuple[Expr, ...]:
        """The indices of the loops of which each iteration has its own; none for other buffers."""
        return self._loops.get(buffer, ())

    def _find(self, buffer: int) -> tuple[Expr, ...]:
        body = self.kernel.body
        around: tuple[Expr, ...] = ()
        while True:
            users = [s for s in body if touches(s, buffer)]
            inner = blocks(users[0]) if len(users) == 1 else ()
            holders = [b for b in inner if any(touches(s, buffer) for s in b)]
            own = bool(users) and buffer in buffers_of(users[0])
            if len(holders) != 1 or own:
                break
            if isinstance(users[0], For):
                around = (*around, *(index(dim.index) for dim in users[0].dims))
            body = holders[0]
        return around if self._begins_whole(body, buffer) else ()

    def _begins_whole(self, body: tuple[Statement, ...], buffer: int) -> bool:
        """Whether every element gets a value before anything else happens to the buffer."""
        if any(extent.name != "const" for extent in self.kernel.buffers[buffer].extents):
            return False
        size = prod(int(e.attr) for e in self.kernel.buffers[buffer].extents)
        cells: set[tuple[int, ...]] = set()
        for statement in body:
            if not touches(statement, buffer):
                continue
            if isinstance(statement, For):
                return fills(statement, self.kernel, buffer)
            if not isinstance(statement, Store) or statement.buffer != buffer:
                return False
            if statement.combine or _reads(statement, buffer):
                return False
            if not all(place.name == "const" for place in statement.indices):
                return False
            cells.add(tuple(int(place.attr) for place in statement.indices))
            if len(cells) == size:
                return True
        return False


def fills(loop: For, kernel: Kernel, buffer: int) -> bool:
    """`for i, j in all elements: buffer[i, j] = value`."""
    extents = kernel.buffers[buffer].extents
    if len(loop.body) != 1 or not isinstance(loop.body[0], Store):
        return False
    store = loop.body[0]
    whole = all(
        dim.low.name == "const" and not dim.low.attr and dim.high is extent
        for dim, extent in zip(loop.dims, extents, strict=False)
    )
    own = tuple(index(dim.index) for dim in loop.dims)
    plain = store.buffer == buffer and not store.combine and not _reads(store, buffer)
    return whole and plain and len(own) == len(extents) and store.indices == own


def _reads(statement: Statement, buffer: int) -> bool:
    return any(
        node.name == "load" and node.attr == buffer for node in postorder(expressions(statement))
    )


def touches(statement: Statement, buffer: int) -> bool:
    """Whether a statement or anything in its blocks uses a buffer."""
    return any(buffer in buffers_of(inner) for inner in walk((statement,)))

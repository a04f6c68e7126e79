"""Which arrays a kernel overwrites before it reads them: what they held is not needed.

An array is so where the first loop that touches it stores every element, in each iteration its own,
before anything reads one:

    for i in range(t.shape[0]):
        s = 0.0
        for j in range(a.shape[1]): s += a[i, j]
        t[i] = s
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import (
    Dim,
    For,
    Kernel,
    Let,
    Statement,
    Store,
    buffers_of,
    expressions,
    walk,
)

Extents = Mapping[tuple[int, int], int]
"""By buffer and dim."""


def overwritten(kernel: Kernel, extents: Extents) -> frozenset[int]:
    """The given buffers whose content before a call with these extents nobody reads."""
    known = _Known(kernel, extents)
    return frozenset(b for b in kernel.written if _covers(b, kernel.body, (), known))


class _Known:
    def __init__(self, kernel: Kernel, extents: Extents) -> None:
        self.kernel, self.extents = kernel, extents
        sets: dict[int, list[Expr]] = {}
        for statement in walk(kernel.body):
            if isinstance(statement, Let):
                sets.setdefault(statement.local, []).append(statement.value)
        self.once = {local: values[0] for local, values in sets.items() if len(values) == 1}

    def number(self, expr: Expr) -> int | None:
        """An integer that is known; None for any other."""
        if expr.name == "const" and isinstance(expr.attr, int):
            return expr.attr
        if expr.name == "param":
            source = self.kernel.arguments[expr.attr]
            return self.extents.get((source.slot, source.dim)) if source.what == "extent" else None
        if expr.name == "local" and expr.attr in self.once:
            return self.number(self.once[expr.attr])
        return None

    def is_whole(self, store: Store, dims: Sequence[Dim]) -> bool:
        """Whether the loops around it store all elements of a buffer, each iteration one."""
        if store.combine or len(store.indices) != len(dims):
            return False
        loops = {dim.index: dim for dim in dims}
        for place, at in enumerate(store.indices):
            dim = loops.pop(at.attr, None) if at.name == "index" else None
            if dim is None or self.number(dim.low) != 0:
                return False
            extent = self.extents.get((store.buffer, place))
            if extent is None or self.number(dim.high) != extent:
                return False
        return True


def _covers(buffer: int, body: Sequence[Statement], dims: tuple[Dim, ...], known: _Known) -> bool:
    """Whether the first statement that touches the buffer stores all of it.

    Only loops lead there: no block that a `Leave` could end early, no branch.
    """
    for statement in body:
        if all(buffer not in buffers_of(inner) for inner in walk((statement,))):
            continue
        if isinstance(statement, Store):
            own = buffers_of(Store(-1, statement.indices, statement.value))
            return buffer not in own and known.is_whole(statement, dims)
        if not isinstance(statement, For) or buffer in buffers_of(statement):
            return False
        inner = statement.body
        return _covers(buffer, inner, (*dims, *statement.dims), known) and _own(
            buffer, statement, known
        )
    return False


def _own(buffer: int, loop: For, known: _Known) -> bool:
    """Whether an iteration reads only the element it has stored."""
    stores = [s for s in walk((loop,)) if isinstance(s, Store) and s.buffer == buffer]
    place = stores[0].indices
    if any(store.indices != place for store in stores):
        return False
    loads = (
        node
        for statement in walk((loop,))
        for node in postorder(expressions(statement))
        if node.name == "load" and node.attr == buffer
    )
    return all(load.args == place for load in loads)

"""Dead arrays that live within a strip need room for the strip only.

A dead array all of whose uses lie in one loop over strips, at `i + c` along the strip's dim,
becomes an array of the kernel's own of the strip's length and margin; element `i + c` of it is
`i + c` less the strip's start.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.expr import Expr, index, load, postorder
from fusewright.ir.loops.statements import (
    For,
    Kernel,
    Statement,
    Store,
    blocks,
    buffers_of,
    expressions,
    walk,
    with_blocks,
)
from fusewright.plan.loops.fuse.fusing import Strip
from fusewright.plan.loops.normalise.rename import Body, rewritten


@dataclass(frozen=True, slots=True)
class Window:
    """Which dim of a buffer shrinks, and the range of positions around a strip's start it needs."""

    place: int
    low: int
    high: int


def contracted(kernel: Kernel, strips: list[Strip]) -> Kernel:
    """The kernel with such arrays in the place of the dead ones."""
    for strip in strips:
        loops = [
            s for s in walk(kernel.body) if isinstance(s, For) and s.dims[0].index == strip.index
        ]
        if strip.form == "shift" or len(loops) != 1:
            continue
        for buffer in kernel.buffers:
            if buffer.dead and buffer.slot not in kernel.scratch:
                window = _window(kernel, loops[0], buffer.slot, strip)
                if window is not None:
                    kernel = _small(kernel, buffer.slot, strip, window)
    return kernel


def _window(kernel: Kernel, loop: For, buffer: int, strip: Strip) -> Window | None:
    """What a strip needs of a buffer; None where the buffer must stay."""
    inside, everywhere = (
        sum(buffer in buffers_of(s) for s in walk(body)) for body in ((loop,), kernel.body)
    )
    if not inside or inside != everywhere:
        return None
    windows = [_one(indices, strip) for indices in _accesses(loop, buffer)]
    if None in windows:
        return None
    found = [window for window in windows if window is not None]
    if len({window.place for window in found}) != 1:
        return None
    return Window(found[0].place, min(w.low for w in found), max(w.high for w in found))


def _accesses(loop: For, buffer: int) -> list[tuple[Expr, ...]]:
    found: list[tuple[Expr, ...]] = []
    for statement in walk((loop,)):
        if isinstance(statement, Store) and statement.buffer == buffer:
            found.append(statement.indices)
        nodes = postorder(expressions(statement))
        found += [n.args for n in nodes if n.name == "load" and n.attr == buffer]
    return found


def _one(indices: tuple[Expr, ...], strip: Strip) -> Window | None:
    """The window of one access: one index is a member's own loop plus a number."""
    found = None
    for place, expr in enumerate(indices):
        for number, (low, high) in strip.reach.items():
            gap = linear.distance(expr, index(number))
            if gap is not None and found is None:
                found = Window(place, low + gap, high + gap)
            elif any(n.name == "index" and n.attr == number for n in postorder([expr])):
                return None
    return found


def _small(kernel: Kernel, number: int, strip: Strip, window: Window) -> Kernel:
    """The kernel with a buffer of the strip's size."""
    start = linear.plus(strip.start, window.low)

    def moved(indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        place = linear.minus(indices[window.place], start)
        return (*indices[: window.place], place, *indices[window.place + 1 :])

    def rule(node: Expr) -> Expr | None:
        if node.name == "load" and node.attr == number:
            return load(number, moved(node.args), node.dtype)
        return None

    def stores(body: Body) -> Body:
        fresh: list[Statement] = []
        for statement in body:
            if isinstance(statement, Store) and statement.buffer == number:
                statement = replace(statement, indices=moved(statement.indices))
            fresh.append(with_blocks(statement, [stores(b) for b in blocks(statement)]))
        return tuple(fresh)

    old = kernel.buffers[number]
    width = linear.plus(strip.size, window.high - window.low)
    extents = (*old.extents[: window.place], width, *old.extents[window.place + 1 :])
    small = replace(old, extents=extents, strides=None)
    return replace(
        kernel,
        body=stores(rewritten(kernel.body, rule)),
        buffers=tuple(small if b.slot == number else b for b in kernel.buffers),
        scratch=kernel.scratch | {number},
    )

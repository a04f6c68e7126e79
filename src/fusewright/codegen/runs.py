"""Dims that lie end to end in everything a loop reads and writes run as one dim.

An image has a last dim of 3: a vector loop over that alone is mostly its own overhead.

```
for j, k in (m, 3):  s[j, k] += x[i, j, k]     ->     for j in (m * 3):  s[0, j] += x[i, 0, j]
```

Theorem: in C order, place (j, k) of dims (m, n) is place (0, j * n + k), and counting j * n + k
from 0 visits the same elements in the same order.  So no value changes, nor its order of reduction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, free_indices, index, load, postorder, rebuild
from fusewright.ir.nest import Box, Buffer, Nest, Program, Stage
from fusewright.plan.plan import Kernel, Member

ZERO = const(0, INT64)
Phase = tuple[Member, ...]


def run_together(program: Program, kernel: Kernel) -> Kernel:
    """The kernel with such dims joined in every phase that reduces; shared dims and stretches stay.

    Phases need not agree: who reads another's row finds it by its place.
    """
    if kernel.form == "tiles" or kernel.tiled:
        return kernel
    if len(kernel.phases) == 1 and not kernel.streams and all(map(_is_total, kernel.members)):
        whole = _phase(program, kernel.phases[0], 0)
        if len(whole[0].stage.extents) == 1:
            return replace(kernel, phases=(whole,))
    phases = tuple(_phase(program, phase, kernel.shared) for phase in kernel.phases)
    return replace(kernel, phases=phases)


def is_one_run(kernel: Kernel) -> bool:
    """Whether the units themselves, rows of which everything is reduced, lie end to end."""
    stages = [m.stage for m in kernel.members]
    return kernel.form == "rows" and all(len(s.extents) == 1 for s in stages) and any(kernel.sinks)


def _is_total(member: Member) -> bool:
    """Whether the member may be computed a block of rows at a time: all of it is reduced, or it
    goes to memory.
    """
    stage = member.stage
    return member.place == "memory" and (
        stage.form == "map" or (stage.form == "fold" and len(stage.axes) == len(stage.extents))
    )


def _phase(program: Program, phase: Phase, shared: int) -> Phase:
    if all(m.stage.form == "map" for m in phase):
        return phase
    dim = shared
    while dim + 1 < len(phase[0].stage.extents):
        if all(_may_join(program, m.stage, dim) for m in phase):
            phase = tuple(replace(m, stage=_joined(m.stage, dim)) for m in phase)
        else:
            dim += 1
    return phase


def _may_join(program: Program, stage: Stage, dim: int) -> bool:
    """Whether `dim` and the next are one run for the stage."""
    if stage.form == "scan" and {dim, dim + 1} & set(stage.axes):
        return False
    if stage.form == "fold" and (dim in stage.axes) != (dim + 1 in stage.axes):
        return False
    width = stage.extents[dim + 1]
    return all(
        _is_whole(nest.box, stage, dim)
        and not free_indices(nest.body) & {dim, dim + 1}
        and all(
            _is_run(program.buffers[slot], places, dim, width)
            for slot, places in _accesses(stage, nest)
        )
        for nest in stage.nests
    )


def _is_whole(box: Box, stage: Stage, dim: int) -> bool:
    return all(
        linear.constant(box.low[d]) == 0 and linear.distance(box.high[d], stage.extents[d]) == 0
        for d in (dim, dim + 1)
    )


def _accesses(stage: Stage, nest: Nest) -> Iterator[tuple[int, Sequence[Expr]]]:
    yield stage.slot, nest.store
    for node in postorder([nest.body]):
        if node.name == "load":
            yield node.attr, node.args


def _is_run(buffer: Buffer, places: Sequence[Expr], dim: int, width: Expr) -> bool:
    """Whether an access has both dims next to each other, in C order, and nowhere else; or
    neither.
    """
    named = [number for number, place in enumerate(places) if _names(place, dim)]
    if not named:
        return True
    first = named[0]
    return (
        named == [first, first + 1]
        and tuple(places[first : first + 2]) == (index(dim), index(dim + 1))
        and first + 1 < len(buffer.extents)
        and len(places) >= len(buffer.extents)
        and buffer.strides is None
        and linear.distance(buffer.extents[first + 1], width) == 0
    )


def _names(root: Expr, dim: int) -> bool:
    return any(e.name == "index" and e.attr in (dim, dim + 1) for e in postorder([root]))


def _joined(stage: Stage, dim: int) -> Stage:
    extents = stage.extents
    size = linear.times(extents[dim], extents[dim + 1])
    axes = tuple(axis - (axis > dim) for axis in stage.axes if axis != dim + 1)
    nests = tuple(_renamed(nest, dim, size) for nest in stage.nests)
    return replace(stage, extents=_cut(extents, dim, size), axes=axes, nests=nests)


def _cut(bounds: tuple[Expr, ...], dim: int, bound: Expr) -> tuple[Expr, ...]:
    return (*bounds[:dim], bound, *bounds[dim + 2 :])


def _renamed(nest: Nest, dim: int, size: Expr) -> Nest:
    """Place 0 of the first dim, and both dims' common place in the second's stead."""
    memo: dict[Expr, Expr] = {}
    for node in postorder([nest.body, *nest.store]):
        if node.name == "index":
            memo[node] = _moved(node, dim)
        elif node.name == "load":
            memo[node] = load(node.attr, tuple(memo[arg] for arg in node.args), node.dtype)
        else:
            memo[node] = rebuild(node, tuple(memo[arg] for arg in node.args))
    box = Box(_cut(nest.box.low, dim, ZERO), _cut(nest.box.high, dim, size))
    return Nest(box, memo[nest.body], tuple(memo[place] for place in nest.store))


def _moved(node: Expr, dim: int) -> Expr:
    if node.attr == dim:
        return ZERO
    return index(node.attr - 1) if node.attr > dim else node

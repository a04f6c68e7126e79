"""Loops made one: members of a kernel that walk the same boxes share their loop, and dims that
lie end to end become one dim.

Two loops become one; `a[i] * 2` is one expression, computed once:

```
t[i] = a[i] * 2          t[i] = a[i] * 2
s += t[i]           ->   s += a[i] * 2
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, free_indices, index, load, postorder, rebuild
from fusewright.ir.nest import Box, Nest, Program, Stage, grouped
from fusewright.plan.plan import Kernel, Member, is_sink, lanes_of


def merge(kernel: Kernel) -> Kernel:
    """Put members into the earliest phase whose loop they can share."""
    phases: list[list[Member]] = []
    for member in kernel.members:
        number = _earliest(phases, member)
        if number is None:
            phases.append([member])
        else:
            phases[number].append(_forwarded(phases[number], member))
    return _without_unread(replace(kernel, phases=tuple(tuple(phase) for phase in phases)))


def _earliest(phases: Sequence[Sequence[Member]], member: Member) -> int | None:
    """The first phase that may take the member: every later one computes nothing it reads."""
    best = None
    for number in range(len(phases) - 1, -1, -1):
        phase = phases[number]
        reads = _slots_read(member.stage)
        inside = {m.stage.slot for m in phase} & reads
        if all(_same_loop(m, member) for m in phase) and all(
            _is_pointwise(m, member.stage) for m in phase if m.stage.slot in inside
        ):
            best = number
        if inside:
            break
    return best


def _same_loop(a: Member, b: Member) -> bool:
    """Whether two members walk the same boxes at the same time."""
    where = [(m.lag, m.low, m.high, m.left, m.right, m.stage.extents) for m in (a, b)]
    if where[0] != where[1]:
        return False
    if "scan" in (a.stage.form, b.stage.form):
        return False
    folds = [m.stage for m in (a, b) if m.stage.form == "fold"]
    if len({(f.axes, lanes_of(f.dtype)) for f in folds}) > 1:
        return False
    if len(folds) > 1 and is_sink(a.stage) != is_sink(b.stage):
        return False
    if folds and any(len(m.stage.nests) != 1 for m in (a, b)):
        return False
    here = tuple(index(dim) for dim in range(len(a.stage.extents)))
    for member in (a, b):
        nests = member.stage.nests
        if member.stage.form == "map" and any(n.store[: len(here)] != here for n in nests):
            return False
    return [box for box, _ in grouped(a.stage)] == [box for box, _ in grouped(b.stage)]


def _slots_read(stage: Stage) -> set[int]:
    return {e.attr for e in postorder(n.body for n in stage.nests) if e.name == "load"}


def _is_pointwise(producer: Member, consumer: Stage) -> bool:
    """Whether the consumer reads the producer only where its own loop stands."""
    if producer.stage.form != "map":
        return False
    here = tuple(index(dim) for dim in range(len(consumer.extents)))
    return all(
        e.args == here
        for e in postorder(n.body for n in consumer.nests)
        if e.name == "load" and e.attr == producer.stage.slot
    )


def _forwarded(phase: Sequence[Member], member: Member) -> Member:
    """The member with what it reads from the phase as expressions instead of loads."""
    stage = member.stage
    nests: list[Nest] = []
    for number, (_, group) in enumerate(grouped(stage)):
        bodies = {
            m.stage.slot: grouped(m.stage)[number][1][0].body
            for m in phase
            if m.stage.form == "map" and not m.stage.dtype.is_complex
        }
        nests += [replace(nest, body=_substituted(nest.body, bodies)) for nest in group]
    return replace(member, stage=replace(stage, nests=tuple(nests)))


def _substituted(root: Expr, bodies: dict[int, Expr]) -> Expr:
    memo: dict[Expr, Expr] = {}
    for node in postorder([root]):
        if node.name == "load" and node.attr in bodies:
            memo[node] = bodies[node.attr]
        else:
            memo[node] = rebuild(node, tuple(memo[arg] for arg in node.args))
    return memo[root]


def _without_unread(kernel: Kernel) -> Kernel:
    """Drop row buffers nobody reads any more."""
    read = set().union(*(_slots_read(m.stage) for m in kernel.members))
    phases = (
        tuple(m for m in phase if m.place == "memory" or m.stage.slot in read)
        for phase in kernel.phases
    )
    kept = tuple(phase for phase in phases if phase)
    alone = len(kept) == 1 and all(m.place == "memory" for m in kept[0])
    return replace(kernel, phases=kept, tiled=kernel.tiled and not alone)


def collapse(program: Program, kernel: Kernel) -> Kernel:
    """One dim for all, where every value is contiguous and read at the loop's own index."""
    members = kernel.members
    rank = len(members[0].stage.extents)
    if len(kernel.phases) > 1 or rank < 2 or kernel.streams or members[0].stage.form != "map":
        return kernel
    if not all(_is_flat(program, m.stage) for m in members):
        return kernel
    total: Expr = const(1, INT64)
    for extent in members[0].stage.extents:
        total = linear.times(total, extent)
    flat = tuple(replace(m, stage=_flattened(m.stage, total)) for m in members)
    return replace(kernel, form="tiles", shared=1, extents=((total,),), phases=(flat,))


def _is_flat(program: Program, stage: Stage) -> bool:
    here = tuple(index(dim) for dim in range(len(stage.extents)))
    if len(stage.nests) != 1 or stage.nests[0].store != here:
        return False
    if program.buffers[stage.slot].extents != stage.extents:  # a region of what it is written into
        return False
    box = stage.nests[0].box
    if box.high != stage.extents or any(linear.constant(low) != 0 for low in box.low):
        return False
    for node in postorder([stage.nests[0].body]):
        if node.name != "load":
            continue
        buffer = program.buffers[node.attr]
        plain = buffer.strides is None and node.args == here and buffer.extents == stage.extents
        if not plain and any(linear.constant(arg) != 0 for arg in node.args):
            return False
    return not free_indices(stage.nests[0].body)


def _flattened(stage: Stage, total: Expr) -> Stage:
    zero, here = const(0, INT64), (index(0),)
    memo: dict[Expr, Expr] = {}
    body = stage.nests[0].body
    for node in postorder([body]):
        if node.name == "load" and any(linear.constant(arg) != 0 for arg in node.args):
            memo[node] = load(node.attr, here, node.dtype)
        elif node.name == "load":
            memo[node] = node
        else:
            memo[node] = rebuild(node, tuple(memo[arg] for arg in node.args))
    nest = Nest(Box((zero,), (total,)), memo[body], here)
    return replace(stage, extents=(total,), nests=(nest,))

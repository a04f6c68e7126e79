"""Grouping stages into kernels: dependence by distance, profit by what stays in cache.

A stage joins a kernel when every value it reads from the kernel's members is read at the same index
of the shared dims (distance 0), or at a literal distance in dim 0, in which case the earlier stage
runs ahead and a few of its rows are kept. Theorem: with lag(P) >= lag(C) + o for every read of P by
C at distance o, row i + o of P is computed before row i of C in the order of execution, and a ring
of `lag(P) - min(lag(C) + o) + 1` rows never overwrites a row still to be read. Each thread computes
the rows its range needs, so neighbours never wait for each other (overlapped tiles).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from fusewright.base.values import dataclass
from fusewright.base.words import memory
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index
from fusewright.ir.nest import Alias, Library, Program, Stage, Step
from fusewright.machine import record as machine
from fusewright.plan.lags import scheduled
from fusewright.plan.merge import collapse, merge
from fusewright.plan.plan import Decided, Form, Kernel, Member, Plan, is_sink
from fusewright.plan.reads import expressions_of, loads_of, reads_of

Size = Callable[[Expr], int]

MOST_STAGES = 16
"""Stages of one kernel that stream rows: each adds two halo rows for every thread to compute again,
which is a share of its own rows."""
MOST_MEMBERS = 32
"""Stages of one kernel: a stage is compared with every other one of its kernel, so that more would
make planning a long program slow; the arrays they share are read once for all of these."""
MOST_NESTS = 96
"""Loops in one kernel: more are more machine code than the pass over memory they save is worth."""
MOST_EXPRESSIONS = 4000
"""Expressions in the loops of one kernel (compiling one takes some 20 us)."""
LOOK_BACK = 16
"""Kernels that share operands with a stage and are tried, the newest first."""


@dataclass(slots=True)
class _Group:
    """A kernel being put together."""

    stages: list[Stage] = field(default_factory=list)
    shared: int = 0
    streaming: bool = False
    closed: bool = False
    written: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    nests: int = 0
    expressions: int = 0

    def add(self, stage: Stage) -> None:
        self.stages.append(stage)
        self.written.add(stage.slot)
        self.read.update(reads_of(stage))
        self.nests += len(stage.nests)
        self.expressions += expressions_of(stage)

    def copy(self) -> _Group:
        """Another one to try something with."""
        return replace(self, stages=[*self.stages], written={*self.written}, read={*self.read})


def group(program: Program, size: Size, fuse: bool) -> Plan:
    """Assign every step to a kernel, in an order that respects every dependence."""
    return Grouper(program, size, fuse).run()


class Grouper:
    """Stages taken one after the other, each into the kernel where it saves most."""

    def __init__(self, program: Program, size: Size, fuse: bool) -> None:
        self.program = program
        self.size = size
        self.fuse = fuse
        self.sequence: list[_Group | Library | Alias | None] = []
        self.home: dict[int, int] = {}
        self.users: dict[int, list[int]] = {}
        self.decisions: list[Decided] = []

    def run(self) -> Plan:
        for step in self.program.steps:
            self._place(step)
        readers = _readers(self.program)
        steps = tuple(
            _kernel(entry, self.program, readers) if isinstance(entry, _Group) else entry
            for entry in self.sequence
            if entry is not None
        )
        return Plan(steps, tuple(self.decisions))

    def _place(self, step: Step) -> None:
        if isinstance(step, Stage) and self.fuse and not _patches(step):
            self._unite(step)
            for number in self._candidates(step):
                entry = self.sequence[number]
                if isinstance(entry, _Group) and self._joins(entry, step):
                    self._settle(step, number)
                    return
        self.sequence.append(_alone(step) if isinstance(step, Stage) else step)
        self._settle(step, len(self.sequence) - 1)

    def _candidates(self, stage: Stage) -> list[int]:
        """The kernels a stage has something in common with, newest first: those that read what it
        reads, back to the one that computes the last of its operands.
        """
        reads = reads_of(stage)
        first = max((self.home.get(slot, -1) for slot in reads), default=-1)
        near = {number for slot in reads for number in self.users.get(slot, ())[-LOOK_BACK:]}
        found = sorted((n for n in near if n > first), reverse=True)[:LOOK_BACK]
        return [*found, first] if first >= 0 else found

    def _settle(self, step: Step, number: int) -> None:
        """The step is computed by an entry of the sequence."""
        self.home[step.slot] = number
        for slot in reads_of(step):
            users = self.users.setdefault(slot, [])
            if not users or users[-1] != number:
                users.append(number)

    def _unite(self, stage: Stage) -> None:
        """Make one kernel of those that compute the operands of a stage which can join them all:
        `u` and `v` of `u * v` may have had nothing in common before.
        """
        homes = sorted({self.home[slot] for slot in reads_of(stage) if slot in self.home})
        for number in homes[-2::-1]:
            last = homes[-1]
            both = self._both(number, last)
            if both is None or self._add(both.copy(), stage):
                continue
            older = self.sequence[number]
            assert isinstance(older, _Group)
            self.sequence[number], self.sequence[last] = None, both
            for each in older.stages:
                self._settle(each, last)
            pair = (older.stages[-1].slot, both.stages[-1].slot)
            self.decisions.append(Decided(True, pair, "one operation reads both"))

    def _both(self, number: int, last: int) -> _Group | None:
        """Two kernels as one in the place of the later, if they can be: nothing between them reads
        what the older computes, or overwrites memory, which may be what that reads.
        """
        older, newer = self.sequence[number], self.sequence[last]
        if not isinstance(older, _Group) or not isinstance(newer, _Group) or older.closed:
            return None
        if len(older.stages) + len(newer.stages) >= MOST_MEMBERS:
            return None
        for entry in self.sequence[number + 1 : last]:
            if entry is None:
                continue
            if not isinstance(entry, _Group) or entry.closed:
                return None
            if not entry.read.isdisjoint(older.written):
                return None
        both = older.copy()
        return None if any(self._add(both, each) for each in newer.stages) else both

    def _joins(self, entry: _Group, stage: Stage) -> bool:
        """Add the stage to the kernel, or note what stands in the way."""
        if entry.closed:
            return False
        reads = reads_of(stage)
        related = entry.written.intersection(reads)
        if not related and entry.read.isdisjoint(reads):
            return False
        other = max(related or {entry.stages[-1].slot})
        why = self._add(entry, stage)
        if why:
            if related:
                self.decisions.append(Decided(False, (other, stage.slot), why))
            return False
        what = "the value stays in cache" if related else "they read the same data"
        self.decisions.append(Decided(True, (other, stage.slot), what))
        return True

    def _add(self, entry: _Group, stage: Stage) -> str:
        """Add the stage to the kernel; why not, if it cannot be or does not pay."""
        why = "it writes in place" if entry.closed or _patches(stage) else why_full(entry, stage)
        if why:
            return why
        fit = fit_or_why(entry, stage)
        if isinstance(fit, str):
            return fit
        why = self.profit_or_why(entry, stage, fit)
        if not why:
            entry.add(stage)
            entry.shared, entry.streaming = fit
        return why

    def profit_or_why(self, entry: _Group, stage: Stage, fit: tuple[int, bool]) -> str:
        stages = [*entry.stages, stage]
        if fit[1] and len(stages) > MOST_STAGES:
            return f"more than {MOST_STAGES} stages in one pass would recompute too many halo rows"
        streams = entry.read.union(entry.written, reads_of(stage), (stage.slot,))
        most = machine.current().read_streams
        if len(streams) > most + 2 * len(stages):
            return f"more than {most} arrays would be streamed at once"
        if _tiled(stages):
            return ""
        inner = sum(
            self.size(_product(self.program.buffers[s.slot].extents[fit[0] :]))
            * s.dtype.itemsize
            * (4 if fit[1] else 1)
            for s in stages
            if s.slot not in self.program.outputs
        )
        if inner > machine.current().rows and not (fit[0] == 1 and _tileable(stages)):
            return f"its rows ({memory(inner)}) would not stay in cache"
        return ""


def _alone(stage: Stage) -> _Group:
    group = _Group(shared=_own_shared(stage), closed=_patches(stage))
    group.add(stage)
    return group


def why_full(entry: _Group, stage: Stage) -> str:
    """Why the kernel is large enough as it is, if it is."""
    if len(entry.stages) == MOST_MEMBERS:
        return f"a kernel of more than {MOST_MEMBERS} stages takes too long to compile"
    if entry.nests + len(stage.nests) > MOST_NESTS:
        return f"more than {MOST_NESTS} loops in one kernel take too long to compile"
    if entry.expressions + expressions_of(stage) > MOST_EXPRESSIONS:
        return f"more than {MOST_EXPRESSIONS} operations in one kernel take too long to compile"
    return ""


def _own_shared(stage: Stage) -> int:
    """How many leading dims a stage can share with others."""
    rank = len(stage.extents)
    if stage.form == "scan" and 0 in stage.axes:
        return 0
    if is_sink(stage) or rank <= 1:
        return min(rank, 1)
    if stage.form != "map":
        return min(stage.axes)
    return rank - 1


def _tiled(stages: Sequence[Stage]) -> bool:
    return all(len(stage.extents) == 1 for stage in stages)


def fit_or_why(entry: _Group, stage: Stage) -> tuple[int, bool] | str:
    """The shared dims and whether rows are streamed once the stage is in; or why it cannot be."""
    if any(is_sink(s) and s.slot in reads_of(stage) for s in entry.stages):
        return "the reduction must be complete before anything reads it"
    sinks = [s for s in entry.stages if is_sink(s)]
    if is_sink(stage) and any((s.axes, s.extents) != (stage.axes, stage.extents) for s in sinks):
        return "two reductions over different dims need different blocks"
    if any(s.form == "scan" and 0 in s.axes for s in (*entry.stages, stage)):
        return "a scan along the first dim runs in order"
    rank = len(stage.extents)
    if (sinks or is_sink(stage)) and not _same_units([*entry.stages, stage]):
        return "a reduction's blocks follow from the extent of its own first dim"
    if rank == 0 or not entry.stages[0].extents:
        same = rank == 0 and all(not s.extents for s in entry.stages)
        return (0, False) if same else "one of them is a single value"
    tiled = _tiled(entry.stages)
    if not tiled and rank == 1 and stage.form != "map":
        return "it runs along the dim whose rows the other computes"
    if tiled and rank != 1:
        return "their iteration spaces have different ranks"
    limit = 1 if rank == 1 else _own_shared(stage)
    shared = min(entry.shared, limit)
    streaming = entry.streaming
    for other in entry.stages:
        verdict = distance_or_why(other, stage)
        if isinstance(verdict, str):
            return verdict
        shared = min(shared, verdict[0])
        streaming = streaming or verdict[1]
    if shared == 0:
        return "they agree on no leading dim"
    if streaming:
        shared = 1
    return shared, streaming


def _same_units(stages: Sequence[Stage]) -> bool:
    first = stages[0].extents
    return all(s.extents and first and linear.distance(s.extents[0], first[0]) == 0 for s in stages)


def distance_or_why(producer: Stage, consumer: Stage) -> tuple[int, bool] | str:
    """On how many leading dims the two agree, and whether they are a distance apart in dim 0."""
    shared = 0
    for a, b in zip(producer.extents, consumer.extents, strict=False):
        gap = linear.distance(a, b)
        if gap is None or (gap and shared):
            break
        shared += 1
    if shared == 0:
        return "their first dims are not known to have the same extent"
    if linear.distance(producer.extents[0], consumer.extents[0]) != 0:
        shared = 1
    streaming = False
    for load in loads_of(consumer):
        if load.attr != producer.slot:
            continue
        for dim in range(min(shared, len(load.args))):
            gap = linear.distance(load.args[dim], index(dim))
            if gap is None:
                shared = dim
                break
            if gap and dim == 0:
                streaming, shared = True, 1
                break
            if gap:
                shared = dim
                break
        if shared == 0:
            return "the second reads rows of the first that are not a fixed number of rows away"
    if streaming and (producer.form == "scan" or (is_sink(consumer) and _tiled([consumer]))):
        return "a value read at a distance cannot run ahead of this loop"
    return shared, streaming


def _patches(stage: Stage) -> bool:
    """Whether the stage writes anywhere but at its own index, or part of a value."""
    if stage.form != "map":
        return False
    rank = len(stage.extents)
    here = tuple(index(dim) for dim in range(rank))
    # a part of a complex number is stored one index deeper
    return stage.update >= 0 or any(nest.store[:rank] != here for nest in stage.nests)


def _product(extents: Sequence[Expr]) -> Expr:
    total: Expr = const(1, INT64)
    for extent in extents:
        total = linear.times(total, extent)
    return total


def _readers(program: Program) -> dict[int, set[int]]:
    """Which steps (by identity) read each value; -1 stands for a library or the user."""
    readers: dict[int, set[int]] = {slot: {-1} for slot in program.outputs}
    for step in program.steps:
        if isinstance(step, Stage):
            for slot in reads_of(step):
                readers.setdefault(slot, set()).add(id(step))
        else:
            for slot in step.reads if isinstance(step, Library) else (step.source,):
                readers.setdefault(slot, set()).add(-1)
    return readers


def _kernel(entry: _Group, program: Program, readers: dict[int, set[int]]) -> Kernel:
    inside = {id(stage) for stage in entry.stages}
    members = [
        Member(stage, "row" if _stays(stage, inside, readers) else "memory")
        for stage in entry.stages
    ]
    tiled = entry.shared == 1 and _tileable(entry.stages) and len(members) > 1
    if entry.streaming or tiled:
        members = scheduled(members, tiled)
    form: Form = "tiles" if _tiled(entry.stages) and entry.shared else "rows"
    extents = tuple(dict.fromkeys(s.extents[: entry.shared] for s in entry.stages))
    ordered = any(s.form == "scan" and 0 in s.axes for s in entry.stages)
    kernel = Kernel(form, entry.shared, extents, tuple((m,) for m in members), ordered, tiled)
    return collapse(program, merge(kernel))


def _tileable(stages: Sequence[Stage]) -> bool:
    """Whether dim 1 can be cut into stretches: every read between the stages is at a literal
    distance there.
    """
    inside = {stage.slot for stage in stages}
    first = stages[0].extents
    return all(
        stage.form == "map"
        and len(stage.extents) >= 2
        and linear.distance(stage.extents[1], first[1]) is not None
        and all(
            len(load.args) >= 2 and linear.distance(load.args[1], index(1)) is not None
            for load in loads_of(stage)
            if load.attr in inside
        )
        for stage in stages
    )


def _stays(stage: Stage, inside: set[int], readers: dict[int, set[int]]) -> bool:
    return not is_sink(stage) and not _patches(stage) and readers.get(stage.slot, {-1}) <= inside

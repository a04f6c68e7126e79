"""Tells those who listen which kernel of loops has run: its lines, its time, where its code came
from, how its loops ran and which of them fused.

Only loaded while somebody listens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base import bounded
from fusewright.base.source import Span
from fusewright.codegen.listing import listing
from fusewright.codegen.trees.build import tree_of
from fusewright.codegen.wording import Names
from fusewright.ir.expr import postorder
from fusewright.ir.loops.statements import Kernel as Loops
from fusewright.ir.loops.statements import expressions, walk
from fusewright.kernels.explain import listed, reasoned
from fusewright.kernels.lowering import NAME
from fusewright.kernels.records import decisions
from fusewright.kernels.specialise import Specialised
from fusewright.plan.loops.decide import decide
from fusewright.plan.loops.plan import LoopPlan, LoopReport
from fusewright.plan.loops.wording import loop_line, written_loops
from fusewright.runtime.limits import thread_count
from fusewright.runtime.profile import KernelRecord, Line, Operation, listeners, tell
from fusewright.runtime.trigger import asked

if TYPE_CHECKING:
    from fusewright.kernels.units import Unit
    from fusewright.targets.executable import LoopExecutable

MOST_DESCRIBED = 512
"""Descriptions kept: a program calls the same kernels again and again."""
_described: dict[int, tuple[LoopExecutable, KernelRecord]] = {}
_told: dict[int, LoopExecutable] = {}
"""Codes that have run: what runs again comes from memory.  Descriptions are made only when the
evaluation has ended, in which one may run many times.
"""


def told(
    run: Callable[[], LoopExecutable | None],
    found: Specialised | Unit,
    code: LoopExecutable,
    arrays: Sequence[np.ndarray[Any, Any]],
    began: float = 0.0,
) -> LoopExecutable | None:
    """Run a kernel and tell every listener that it ran, whether it fails or not; planning and
    compiling `began` before (0.0: nobody asked).
    """
    fresh = id(code) not in _told and code.made >= min(each.began for each in listeners)
    bounded.keep(_told, id(code), code, MOST_DESCRIBED)
    start = perf_counter()
    try:
        return run()
    finally:
        seconds = perf_counter() - start
        sizes = [array.nbytes for array in arrays]

        def record() -> KernelRecord:
            read, written = _bytes(code.kernel, sizes)
            return replace(
                _description(found, code),
                start=start,
                seconds=seconds,
                threads=thread_count() if code.is_threaded else 1,
                bytes_read=read,
                bytes_written=written,
                bytes_unfused=read + written,
                origin=code.origin if fresh else "memory",
                compile_seconds=code.seconds if fresh else 0.0,
            )

        tell(record, *_caller(), began or start)


CALLS = frozenset({"__call__()", "explain()"})
"""What `asked` finds where the user's code, or `fw.explain`, has called a kernel itself."""


def _caller() -> tuple[str, Line | None]:
    trigger, line = asked()
    return ("a call" if trigger in CALLS else trigger), line


def _description(found: Specialised | Unit, code: LoopExecutable) -> KernelRecord:
    """The record of a kernel that has not run: no time, no bytes."""
    kept = _described.get(id(code))
    if kept is not None:
        return kept[1]
    if len(_described) >= MOST_DESCRIBED:
        _described.clear()
    if isinstance(found, Specialised):
        plan = reasoned(found, code)
        write = partial(listed, found, code, plan)
    else:
        plan = decide(code.kernel, code.settings, reasons=True)
        write = partial(_listed, plan, code.features.vector_bytes)
    record = KernelRecord(
        name="array statement" if code.kernel.name == NAME else code.kernel.name,
        start=0.0,
        seconds=0.0,
        threads=1,
        bytes_read=0,
        bytes_written=0,
        bytes_unfused=0,
        operations=tuple(map(_loop, written_loops(plan.loops))),
        decisions=tuple(decisions(plan.pairs)),
        origin="memory",
        compile_seconds=0.0,
        llvm=code.signature.text,
        kind="loops",
        listing=cache(write),
    )
    # the code is kept with its record, so that its id stays its own
    _described[id(code)] = (code, record)
    return record


def _listed(plan: LoopPlan, vector_bytes: int) -> str:
    """The loops of a unit, whose arrays have no names."""
    return listing(tree_of(plan, vector_bytes), Names({}, {}))


def _bytes(kernel: Loops, given: Sequence[int]) -> tuple[int, int]:
    """The sizes of the arrays that a kernel reads, and of those that it writes."""
    sizes = dict(zip(kernel.given, given, strict=False))
    values = postorder(tuple(each for one in walk(kernel.body) for each in expressions(one)))
    loaded = {node.attr for node in values if node.name == "load"}
    read = sum(nbytes for number, nbytes in sizes.items() if number in loaded)
    return read, sum(sizes.get(number, 0) for number in kernel.written)


def _loop(loop: LoopReport) -> Operation:
    told = loop_line(loop)
    return Operation(told.head, "", (), told.how, _line(loop.span), told.why_where)


def _line(span: Span) -> Line | None:
    return span if span[0] else None

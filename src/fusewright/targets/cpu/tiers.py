"""When a structure that is new is compiled, and by whom (decision 0020).

A request without compiled code runs operation by operation, in the core (`_core/unfused.c`), until
that has taken as long as compiling would.  Then it is compiled beside the program, which goes on so
meanwhile; in front of it only where a single run takes longer than compiling.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from fusewright._core import native
from fusewright.base.later import later
from fusewright.base.options import Options, calibration
from fusewright.ir import graph
from fusewright.ir.graph import Memory, Node
from fusewright.runtime.trace import Key, Slice
from fusewright.targets.cpu import due, portions

if TYPE_CHECKING:
    from fusewright.machine import record
    from fusewright.runtime import background
    from fusewright.targets.cpu import obtaining
    from fusewright.targets.cpu.runner import Runner
else:
    record = later("fusewright.machine.record")
    background = later("fusewright.runtime.background")
    obtaining = later("fusewright.targets.cpu.obtaining")

GAIN = 0.75
"""The share of the time operation by operation that fused code is predicted to save: nothing in
between is stored, and there are more threads."""

OFTEN_ENOUGH = 3
"""A request must take so many times as long as describing it, which is most of a look for its code
(as in `_core/slice.c`)."""
AT_A_TIME = 32
"""Results of a request that the core is asked for at once."""
MOST_COUNTED = 4096

_built = False
"""Whether LLVM has been started, and has compiled a structure."""
_building: set[Key] = set()
_spent: dict[Key, float] = {}


def _compiling() -> float:
    """Seconds that compiling a structure takes at least."""
    costs = record.current()
    return costs.compile_structure + (0.0 if _built else costs.compile_start)


def tell_core() -> None:
    """Tell the core what compiling takes on this machine."""
    native.set_compiling(_compiling(), record.current().compile_node)


if native is not None:
    native.set_compiling()  # what the core has begun with, until somebody compiles
    if os.path.exists(calibration()):
        tell_core()


def seconds_alone() -> float:
    """About how long the request just left to Python takes operation by operation; negative where
    it cannot run so.
    """
    return -1.0 if native is None else float(native.seconds_missed())


def found(
    key: Key, slice_: Slice, options: Options, keep: Callable[[Key, Runner], None], whole: bool
) -> Runner | None:
    """Code for a structure that is not in memory: from the disk, or compiled in front of the
    program; None where the program goes on operation by operation.  `whole` says whether the core
    runs the request as one, and counts what it takes.
    """
    seconds, wanted = (seconds_alone(), native.is_due()) if whole else _counted(key, slice_)
    if seconds < 0.0 or not options.background:
        return obtaining.obtain(key, slice_, options)
    if key in _building:
        return None
    runner = obtaining.stored(key, options) if due.is_kept(key, options) else None
    if runner is not None or not due.is_due(key, options, wanted):
        return runner
    cost = _compiling() + record.current().compile_node * len(slice_.order)
    if seconds * GAIN > cost:
        return obtaining.obtain(key, slice_, options)
    _building.add(key)
    copy = detached(slice_)
    background.submit(lambda: build_in_steps(key, copy, options, keep))
    return None


def _counted(key: Key, slice_: Slice) -> tuple[float, int]:
    """About how long a request takes that the core runs in turns, and whether its runs have taken
    as long as compiling would.
    """
    costs = record.current()
    seconds = _seconds(slice_.order)
    if len(_spent) >= MOST_COUNTED:
        _spent.clear()
    _spent[key] = _spent.get(key, 0.0) + seconds
    is_due = _spent[key] > costs.compile_structure + costs.compile_node * len(slice_.order)
    return seconds, due.NOW if is_due else 0


def _seconds(nodes: Sequence[Node]) -> float:
    """About how long operations take one by one."""
    costs = record.current()
    operations = [node for node in nodes if node.args]
    elements = sum(prod(node.shape) for node in operations)
    return 1e-9 * (costs.operation * len(operations) + costs.element * elements)


def takes_turns(many: int) -> bool:
    """Whether the core runs so many results one after the other."""
    return native is not None and many > AT_A_TIME


def as_several(pending: Sequence[Node], compute: Callable[[Sequence[Node]], None]) -> bool:
    """Run a request that the core cannot take as several that it can, each with a structure of its
    own, where its results are not worth describing as a whole; whether that was done.
    """
    many = len(pending)
    if not takes_turns(many):
        return False
    if _seconds(pending) > OFTEN_ENOUGH * record.current().look_up_node * many:
        return False
    for turn in _turns(pending):
        compute(turn)
    return True


def _turns(pending: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """So many results as the core takes, without those that earlier turns have computed."""
    for start in range(0, len(pending), AT_A_TIME):
        turn = [node for node in pending[start : start + AT_A_TIME] if node.kind != graph.LEAF]
        if turn:
            yield turn


def in_turns(pending: Sequence[Node], run: Callable[[Sequence[Node]], None]) -> bool:
    """Run a request operation by operation, so many results at a time as the core takes; `run` is
    for those that it does not know.
    """
    if len(pending) <= AT_A_TIME:
        return bool(native.unfused(*pending))
    for turn in _turns(pending):
        if not native.unfused(*turn):
            run(turn)
    return True


def build_in_steps(
    key: Key, slice_: Slice, options: Options, keep: Callable[[Key, Runner], None]
) -> None:
    """Compile in the background, better code after quick code."""
    global _built
    try:
        due.begin(key, options)  # before anything that takes long, such as loading what compiles
        keep(key, obtaining.in_steps(key, slice_, options))
        _built = True
    except portions.TooMuch:
        portions.refuse(key, slice_)
    finally:
        _building.discard(key)
        tell_core()


def detached(slice_: Slice) -> Slice:
    """The same structure without the memory, which the program goes on to use."""
    twins: dict[Node, Node] = {}
    memories: dict[int, Memory] = {}  # which leaves share one is part of the structure
    for node in slice_.order:
        args = tuple(twins[arg] for arg in node.args)
        value = node.value
        if node.kind == graph.LEAF:
            memory, offset, strides = value
            twin_memory = Memory(0, memory.nbytes, None, memory.external)
            value = (memories.setdefault(id(memory), twin_memory), offset, strides)
        twin = Node(node.kind, node.op, args, node.dtype, node.shape, node.attr, value)
        twin.demands = node.demands
        twins[node] = twin
    return Slice(
        list(twins.values()),
        {twin: slice_.slots[node] for node, twin in twins.items()},
        slice_.outputs,
        slice_.key,
        {twins[node] for node in slice_.reusable},
        slice_.staged,
    )

"""The whole flow: from requested values to values in memory.

    slice -> key -> (nests -> plan -> lower -> compile -> load, on a miss) -> run
 Each stage is a function from frozen value to frozen value; what is compiled is kept by the slice's
structure, and object code on disk by the text it was made from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from fusewright import told_at_once, unfused  # noqa: F401
from fusewright.base import bounded, hooks
from fusewright.base.errors import FusewrightError, InternalError
from fusewright.base.later import later
from fusewright.base.options import Options, current
from fusewright.frontends.arrays import trace
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.runtime import reuse
from fusewright.runtime.listening import interprets, listeners
from fusewright.runtime.once import elapsed, note
from fusewright.runtime.trace import Key, Known, Slice, computed_once, take
from fusewright.targets.cpu import (
    ahead,
    asking,
    direct,
    due,
    portions,
    stored_programs,
    tiers,
    trial,
)
from fusewright.targets.cpu.disk_keys import name_of
from fusewright.targets.target import target

if TYPE_CHECKING:
    from fusewright import stages
    from fusewright.runtime import profile
    from fusewright.targets.cpu import native, obtaining, record, recorded_products
    from fusewright.targets.cpu.runner import Runner
    from fusewright.targets.reference import interpreter
else:
    stages, profile = later("fusewright.stages"), later("fusewright.runtime.profile")
    native = later("fusewright.targets.cpu.native")
    obtaining = later("fusewright.targets.cpu.obtaining")
    recorded_products = later("fusewright.targets.cpu.recorded_products")
    record = later("fusewright.targets.cpu.record")
    interpreter = later("fusewright.targets.reference.interpreter")

PASSED_ON = (FusewrightError, InternalError, MemoryError, RecursionError, Warning)
"""What is not a mistake of ours: no memory or no stack left is the program's own doing, and no
part of us recurses over a program.
"""
MOST_RUNNERS = 4096
"""Structures kept compiled in memory; the oldest goes when there are more."""

joiners: list[Callable[[Sequence[Node]], bool]] = []
"""What may make statements part of a pending call; whether one did (`kernels.statements`)."""
runners: dict[Key, Runner] = {}
programs: dict[Key, Any] = {}
"""Those of earlier processes, in the core's form."""
reuse.lists += [lambda: trace.pending, lambda: [node for node, _ in trace.left_alone]]


def evaluate(requested: Sequence[Node]) -> None:
    """Make every requested node a leaf, or after an error none."""
    structure = asking.structure()
    pending = [node for node in requested if node.kind != graph.LEAF]
    if not pending:
        return
    options = current()
    if options.target != "cpu":
        slice_ = take(pending)
        target(options.target).compile(slice_, options).run(slice_.order, options, by_numpy)
        return
    if options.verify and options.fuse:
        # Imported here: few programs ask.
        from fusewright import verification

        verification.evaluate(pending, _evaluate, _unfused)
        return
    _evaluate(pending, structure)


def _unfused(pending: Sequence[Node]) -> None:
    """Compute values of a slice nobody else has, step by step."""
    replay(*prepare(pending, alone := current()._replace(fuse=False)), alone)


def _evaluate(pending: Sequence[Node], structure: bytes | None = None) -> None:
    options = current()
    began = perf_counter() if listeners else 0.0
    try:
        if _joined(pending) and asking.compute(*pending):
            return
        if structure is None and _ran_in_parts(pending, options):
            return
        pending = pending if listeners else _without_steps(pending)
        if not pending:
            return
        steps = _is_interpreted(options) and not _runs_alone(structure)
        if steps and trial.interpret(pending, structure, by_numpy_once, _alone):
            return
        slice_ = take(pending)
        key = slice_.code_key(options)
        if (fresh := key not in runners) and _uncompiled(structure, key, slice_, pending, options):
            return
        runner = _affordable(key, slice_, options)
        if runner is None:
            note("planning", began)  # no flush has begun that it could be a part of
            if _in_portions(slice_, pending):
                return
        assert runner is not None, "what holds too much memory is more than one operation"
        if listeners:
            is_slow = due.is_slow(name_of(key, options))
            _tell(began, slice_.order, runner, fresh, options, by_numpy_once, is_slow)
        else:
            runner.run(slice_.order, options, by_numpy_once)
            if structure is not None and not options.verify:
                asking.learn(structure, native.program(runner, name_of(key, options)))
        computed_once(slice_)
    except PASSED_ON:
        raise
    except Exception as error:
        internal = stages.internal_error(error, pending)
        if internal is None:
            raise
        raise internal from error


def _ran_in_parts(pending: Sequence[Node], options: Options) -> bool:
    """Whether a request that the core does not take has run in parts that have a way of their own:
    its products and the rest, or some results after the others.
    """
    if asking.holds_products(pending):
        recorded_products.run_inside(pending, options, compute, _runner)
        return True
    return _is_interpreted(options) and tiers.as_several(pending, compute)


def compute(nodes: Sequence[Node]) -> None:
    """Make nodes leaves, by the core if it can."""
    pending = [node for node in nodes if node.kind != graph.LEAF]
    if pending and not asking.compute(*pending):
        evaluate(pending)


def _runs_alone(structure: bytes | None) -> bool:
    """Whether the core can run the request it has just left operation by operation."""
    return structure is not None and tiers.seconds_alone() >= 0.0 and not listeners


def _uncompiled(
    structure: bytes | None, key: Key, slice_: Slice, pending: Sequence[Node], options: Options
) -> bool:
    """Whether a request that is new to this process has run without compiling it: by a program that
    was left before, or operation by operation, as a whole (`alone`), in turns where it has more
    results than the core takes at once, or in halves where it is longer.
    """
    plain, alone = _is_interpreted(options), _runs_alone(structure)
    if plain and _stored(structure, key, slice_, pending, options):
        return True
    wide = plain and structure is None and tiers.takes_turns(len(pending))
    if (alone or wide) and _begun(key, slice_, pending, options, alone):
        return True
    return plain and asking.is_too_long(len(slice_.order)) and _in_portions(slice_, pending)


def _stored(
    structure: bytes | None, key: Key, slice_: Slice, pending: Sequence[Node], options: Options
) -> bool:
    """Whether somebody has left a program before, and the core has run it."""
    if structure is None or portions.total(slice_.order) >= stored_programs.ROOM:
        return False  # whether it holds too much only the plan says
    program = programs.get(key)
    if program is None:
        program = ahead.load(key, options)
        if program is None and not due.is_slow(name := name_of(key, options)):
            program = stored_programs.load(
                name, lambda use: obtaining.improve_stored(name, options, use)
            )
        if program is None:
            return False
        bounded.keep(programs, key, program, MOST_RUNNERS)
    asking.learn(structure, program)
    return _run_by_core(asking.compute, slice_, pending)


def _run_by_core(run: Callable[..., bool], slice_: Slice, pending: Sequence[Node]) -> bool:
    """Whether the core has run a request; the slice is as before if not."""
    slice_.let_go()
    if run(*pending):
        return True
    again = take(pending)
    slice_.order, slice_.slots, slice_.reusable = again.order, again.slots, again.reusable
    return False


def _begun(key: Key, slice_: Slice, pending: Sequence[Node], options: Options, whole: bool) -> bool:
    """Whether a request without code has been run operation by operation, `whole` or in turns."""
    if portions.total(slice_.order) >= portions.too_much.get(key, sys.maxsize):
        return False
    try:
        runner = tiers.found(key, slice_, options, _keep, whole)
    except portions.TooMuch:
        return False  # `_affordable` finds the same
    if runner is not None:
        _keep(key, runner)
        return False
    return _run_by_core(lambda *nodes: tiers.in_turns(nodes, _evaluate), slice_, pending)


def _affordable(key: Key, slice_: Slice, options: Options) -> Runner | None:
    """The code for a slice; None where running it at once would hold too much memory."""
    total = portions.total(slice_.order)
    if total >= portions.too_much.get(key, sys.maxsize):
        return None
    runner = runners.get(key)
    try:
        if runner is None:
            runner = compile_slice(key, slice_, options)
        stored = portions.stored(slice_.order, runner.plan)
        if stored > runner.affordable:
            if portions.is_hungry(slice_.order, runner.plan, runner.outputs):
                raise portions.TooMuch
            native.afford(runner, stored)
    except portions.TooMuch:
        portions.refuse(key, slice_)
        return None
    return runner


def _in_portions(slice_: Slice, pending: Sequence[Node]) -> bool:
    """Compute a request in two halves, each in halves again where it still holds too much; whether
    it could be cut.
    """
    portion = portions.first_portion(slice_.order, pending)
    first = [node for node in portion if node.kind != graph.LEAF]
    if not first:
        return False
    slice_.let_go()
    _evaluate(first)
    first.clear()
    trace.release()
    _evaluate([node for node in pending if node.kind != graph.LEAF])
    return True


def _joined(pending: Sequence[Node]) -> bool:
    """Whether statements that are asked for have become part of pending calls."""
    return asking.may_hold_groups() and any(join(pending) for join in joiners)


def _without_steps(pending: Sequence[Node]) -> Sequence[Node]:
    """Run the calls of kernels that a request needs, and the step that gives all of it; what is
    left.
    """
    steps = direct.in_place_steps(pending) if asking.may_hold_groups() else {}
    for whole, parts in steps.items():
        operands = [arg for arg in whole.args if arg.kind not in (graph.LEAF, graph.SCALAR)]
        if operands:
            compute(operands)
        direct.run(whole, [part for part in parts if part.kind == graph.PART], by_numpy_once)
    if steps:
        pending = [node for node in pending if node.kind != graph.LEAF]
    step = direct.step_of(pending) if pending else None
    if step is None:
        return pending
    direct.run(step, pending, by_numpy_once)
    return ()


def _is_interpreted(options: Options) -> bool:
    """Whether small new work may be run without compiling it."""
    return interprets(options) and not listeners


def _alone(node: Node) -> float:
    """Run one operation by compiled code; the seconds it took where that is not known yet."""
    if asking.compute(node):
        return 0.0
    began = perf_counter()
    evaluate([node])
    return perf_counter() - began


def by_numpy(node: Node, operands: list[Any]) -> Any:
    """What a node means to NumPy."""
    return interpreter.MEANINGS[node.kind](node, operands)


def by_numpy_once(node: Node, operands: list[Any]) -> Any:
    """What a node means to NumPy; several results stay with the node until all are asked for."""
    result = by_numpy(node, operands)
    if isinstance(result, tuple):
        if not isinstance(node.value, graph.InPlace):
            node.value = Known(result)
        if all(each is not None for each in result):
            node.args = ()  # else it runs once more when the rest is asked for
    return result


def _keep(key: Key, runner: Runner) -> None:
    bounded.keep(runners, key, runner, MOST_RUNNERS)


def compile_slice(key: Key, slice_: Slice, options: Options) -> Runner:
    """Its code from the disk or the compiler, kept in memory."""
    runner = obtaining.obtain_slice(slice_, options)
    _keep(key, runner)
    return runner


def prepare(pending: Sequence[Node], options: Options) -> tuple[list[Node], Runner]:
    """The slice, operands first, and its compiled code, without running it."""
    slice_ = take(pending)
    key = slice_.code_key(options)
    return slice_.order, runners.get(key) or compile_slice(key, slice_, options)


def _runner(key: Key, slice_: Slice, options: Options) -> Runner | None:
    """The code for a part of a chain; None where a program need not wait until it is compiled."""
    if key in runners or not _is_interpreted(options):
        return runners.get(key) or compile_slice(key, slice_, options)
    return obtaining.beside(key, slice_, options, _keep)


def replay(order: list[Node], runner: Runner, options: Options) -> None:
    """Run compiled code on a slice of its structure."""
    try:
        if listeners:
            _tell(perf_counter(), order, runner, False, options, by_numpy)
        else:
            runner.run(order, options, by_numpy)
    except PASSED_ON:
        raise
    except Exception as error:
        internal = stages.internal_error(error, order[-1:])
        if internal is None:
            raise
        raise internal from error


def planned(slice_: Slice, options: Options) -> list[profile.Step]:
    """What would run for a slice."""
    return record.planned(slice_, options)


def texts(pending: Sequence[Node], options: Options, what: str) -> list[str]:
    """The kernels of a request as text: `loops`, `llvm` or `asm`."""
    order, runner = prepare(pending, options)
    return record.texts(order, runner, options, what)


def in_core(runner: Runner) -> Any:
    """Compiled code as a program of the native core; None where that cannot run it."""
    return native.program(runner)


def write_ahead(slices: Iterable[Slice], options: Options, path: str | None) -> int:
    """Compile operations for an installation (`operations`); how many there are."""
    # Imported here: it compiles.
    from fusewright.targets.cpu.ahead_writing import write

    return write(slices, options, path or ahead.FILE)


def is_compiled(slice_: Slice, options: Options) -> bool:
    """Whether the code for a slice is in memory."""
    return slice_.code_key(options) in runners


def cache_clear() -> int:
    """Forget the code kept in memory; how many structures there were."""
    count = cached()
    runners.clear()
    programs.clear()
    portions.too_much.clear()
    asking.forget()
    return count


def cached() -> int:
    """Structures compiled and kept in memory."""
    return len(runners.keys() | programs.keys())


def _tell(began: float, *what: Any) -> None:
    """Run (`record.run`), and tell every listener what ran; planning and compiling began before."""
    profile.not_recording(elapsed(began))
    profile.as_evaluation(record.run, began, *what)


hooks.set_evaluate(evaluate, driver=True)

"""A runner for the native core: the same steps, flattened into tables of 64-bit integers.

Sizes become little stack programs (`Code`).  What the core does not know (library steps) stays with
the runner: `program` then answers None.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fusewright._core import native
from fusewright.base.figures import TINY_ELEMENTS
from fusewright.ir import graph
from fusewright.ir.expr import Expr
from fusewright.ir.nest import Alias, Source
from fusewright.plan.plan import counts_tiles
from fusewright.plan.units import product, unit_elements, units_of
from fusewright.runtime.arguments import table, word_table
from fusewright.targets.cpu import launch as launching
from fusewright.targets.cpu.launch import Launch
from fusewright.targets.cpu.runner import UNKNOWN, Runner
from fusewright.targets.cpu.stored_programs import Form

CONST, PARAM, ADD, SUBTRACT, MULTIPLY, MINIMUM, MAXIMUM, WHERE, LESS, QUOTIENT = range(10)
OPERATIONS = {
    "add": ADD, "subtract": SUBTRACT, "multiply": MULTIPLY, "imin": MINIMUM, "imax": MAXIMUM,
    "where": WHERE, "less": LESS, "floor_divide": QUOTIENT,
}  # fmt: skip
EXTENT, STRIDE, NUMBER, PLACE, PIECE = range(5)
MOST_ARGUMENTS = 1024
"""Arguments of a kernel that the core has room for."""
MOST_PARTIALS = 16
"""Reductions of a kernel that the core has room for."""
DEEPEST = 24
"""Integers an expression keeps at once: the core's stack has 32."""


class _UnknownError(Exception):
    """The core cannot run this."""


def afford(runner: Runner, stored: int) -> None:
    """Where so many bytes are stored, no more memory is held than by the statements."""
    runner.affordable = stored
    if native is not None and runner.native is not UNKNOWN and runner.native is not None:
        runner.native.affordable = stored


def program(runner: Runner, name: str | None = None) -> Any:
    """The runner as a native program, or None; the same one each time, so that it hears of better
    code.  `name` is that of its structure's code.
    """
    if runner.native is UNKNOWN:
        runner.native = _program(runner)
        if runner.native is not None:
            runner.native.name = name
    return runner.native


def form(runner: Runner) -> Form | None:
    """What the core makes a program of; None where it cannot run this."""
    if native is None:
        return None
    try:
        code = Code()
        steps = tuple(_step(code, runner, number) for number in range(len(runner.steps)))
        fetches = [_fetch(source, runner) for source in runner.program.arguments]
    except _UnknownError:
        return None
    return (len(runner.kinds), code.table(), table(fetches), table([runner.leaves]), steps)


def _program(runner: Runner) -> Any:
    given = form(runner)
    if given is None:
        return None
    made = native.Program(*given)
    made.owner = runner
    made.affordable = runner.affordable
    for number, step in enumerate(runner.steps):
        if isinstance(step, Launch):
            step.tell = lambda address, finish, at=number: made.use(at, address, finish)
            step.tell(step.address, step.finish)
    if runner.improve is not None:
        made.note = partial(_note, made, runner)
    return made


def _note(made: Any, runner: Runner, seconds: float, runs: int) -> None:
    runner.note_run(seconds, runs)
    if runner.improve is None:
        made.note = None


class Code:
    """Integer expressions as stack programs, all in one table."""

    def __init__(self) -> None:
        self._pairs: list[tuple[int, int]] = []
        self._known: dict[Expr, tuple[int, int]] = {}

    def table(self) -> bytes:
        return table(self._pairs)

    def of(self, expr: Expr) -> tuple[int, int]:
        """Where the program of an expression stands, and its length."""
        found = self._known.get(expr)
        if found is None:
            start = len(self._pairs)
            self._write(expr, 0)
            found = self._known[expr] = (start, len(self._pairs) - start)
        return found

    def _write(self, expr: Expr, depth: int) -> None:
        if depth > DEEPEST:
            raise _UnknownError
        if expr.name == "const":
            self._pairs.append((CONST, int(expr.attr)))
        elif expr.name == "param":
            self._pairs.append((PARAM, expr.attr))
        elif expr.name in OPERATIONS:
            for held, arg in enumerate(expr.args):  # the operands before it stay on the stack
                self._write(arg, depth + held)
            self._pairs.append((OPERATIONS[expr.name], 0))
        else:
            raise _UnknownError


def _fetch(source: Source, runner: Runner) -> tuple[int, int, int, int]:
    kind = runner.kinds[source.slot]
    if source.what == "extent":
        return (EXTENT, source.slot, source.dim, 0)
    if source.what == "stride":
        return (STRIDE, source.slot, source.dim, 0)
    if source.what == "scalar":
        return (NUMBER, source.slot, 0, 0)
    position = int(source.what == "step")
    if kind == graph.VIEW:
        return (PLACE, source.slot, source.dim, 1 + position)
    return (PIECE, source.slot, source.dim, 2 * source.piece + position)


def _step(code: Code, runner: Runner, number: int) -> tuple[Any, ...]:
    step = runner.steps[number]
    done = (table([runner.complete[number]]), table([runner.last_use[number]]))
    if isinstance(step, Alias):
        nothing = (0, 0)
        return (step.slot, step.source, *(nothing,) * 4, 0, 0, 0.0, *(b"",) * 4, *done)
    if not isinstance(step, Launch):
        raise _UnknownError
    return (-1, -1, *_kernel(code, runner, step), *done)


def _kernel(code: Code, runner: Runner, step: Launch) -> tuple[Any, ...]:
    kernel, module = step.kernel, step.signature
    tiles = counts_tiles(kernel)
    grain = 0 if kernel.streams else 1 if kernel.form == "rows" or tiles else TINY_ELEMENTS
    buffers = runner.program.buffers
    outputs = [
        (
            m.stage.slot,
            *code.of(product(buffers[m.stage.slot].extents, m.stage.dtype.itemsize)),
            step.inherits.get(m.stage.slot, -1),
        )
        for m in kernel.members
        if m.place == "memory"
    ]
    partials = [
        (slot, *code.of(product((elements,), itemsize)), -1)
        for slot, elements, itemsize in module.partials
    ]
    if len(module.words) > MOST_ARGUMENTS or len(partials) > MOST_PARTIALS:
        raise _UnknownError
    stretch = launching.stretch_of(kernel, module)
    rooms = [code.of(launching.room(piece, stretch)) for piece in module.scratch]
    return (
        code.of(units_of(kernel)), code.of(launching.block_units(kernel)),
        code.of(unit_elements(kernel)), code.of(stretch), int(kernel.ordered), grain,
        step.work, table(outputs), table(partials), table(rooms), word_table(step.words),
    )  # fmt: skip

"""Where the code of a structure comes from: the disk, or the compiler; and how it gets better."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, Literal

from fusewright.base.options import Options
from fusewright.machine import record as machine
from fusewright.runtime import background, kept
from fusewright.runtime.image import Image
from fusewright.runtime.once import elapsed
from fusewright.runtime.trace import Slice
from fusewright.targets.cpu import compiler, due, finishing, native, stored_programs
from fusewright.targets.cpu.compiled import Compiled
from fusewright.targets.cpu.disk_keys import name_of
from fusewright.targets.cpu.features import select
from fusewright.targets.cpu.launch import Launch
from fusewright.targets.cpu.runner import Runner, assemble
from fusewright.targets.cpu.stored_programs import Use

MOST_SUBMITTED = 4096


def obtain(key: Any, slice_: Slice, options: Options) -> Runner:
    """The runner of a structure this process has not met: from the disk, or compiled now."""
    return stored(key, options) or _compiled(key, slice_, options)


def obtain_slice(slice_: Slice, options: Options) -> Runner:
    """The runner of a slice's structure."""
    runner = obtain(slice_.code_key(options), slice_, options)
    if options.debug:
        # Imported here: only debugging prints programs.
        from fusewright.ir.text import program_text

        print(program_text(runner.program), file=sys.stderr)
    return runner


def beside(
    key: Any, slice_: Slice, options: Options, keep: Callable[[Any, Runner], None]
) -> Runner | None:
    """The runner of a structure from the disk; None where it is compiled in the background."""
    runner = stored(key, options)
    if runner is not None:
        keep(key, runner)
    elif (key, options) not in _submitted:
        if len(_submitted) >= MOST_SUBMITTED:
            _submitted.clear()
        _submitted.add((key, options))
        background.submit(lambda: keep(key, in_steps(key, slice_, options)))
    return runner


_submitted: set[Any] = set()


def stored(key: Any, options: Options) -> Runner | None:
    """The same from the disk; None where it is not there."""
    start = perf_counter()
    name = name_of(key, options)
    compiled: Compiled | None = kept.read(name)
    return None if compiled is None else _ready(name, compiled, options, "disk", start)


def in_steps(key: Any, slice_: Slice, options: Options) -> Runner:
    """The runner of a structure that is compiled beside the program, which may end any moment: the
    plan is kept as soon as it is made, then kernel by kernel what is compiled.  The next process
    goes on from there.
    """
    runner = stored(key, options)
    if runner is not None:
        return runner
    start = perf_counter()
    compiler.start()
    name = name_of(key, options)
    unfinished: Compiled | None = kept.read(due.unfinished(name))
    if unfinished is None:
        # Imported here: what an earlier process has planned is only compiled.
        from fusewright.targets.cpu.build import planned

        unfinished = planned(slice_, options)
        due.keep(name, unfinished)
    compiled = finishing.finished_in_steps(
        unfinished, select(options.features), partial(due.keep, name)
    )
    runner = _compiled_now(name, compiled, options, start)
    due.end(name)
    return runner


def _compiled(key: Any, slice_: Slice, options: Options) -> Runner:
    start = perf_counter()
    compiler.start()
    # Imported here: a process that finds its code on disk neither plans nor compiles.
    from fusewright.targets.cpu.build import build

    return _compiled_now(name_of(key, options), build(slice_, options), options, start)


def _compiled_now(name: str, compiled: Compiled, options: Options, start: float) -> Runner:
    kept.write(name, compiled)
    runner = _ready(name, compiled, options, "compiled", start)
    form = native.form(runner)
    if form is not None:
        stored_programs.keep(name, form, kernels_of(compiled), runner.trial)
    return runner


def kernels_of(compiled: Compiled) -> list[stored_programs.Kernel | None]:
    """What the core needs of each step's code; None for a library step."""
    return [None if k is None else (k.image, k.final) for k in compiled.kernels]


def _ready(
    name: str,
    compiled: Compiled,
    options: Options,
    origin: Literal["compiled", "disk"],
    start: float,
) -> Runner:
    runner = assemble(compiled)
    runner.origin, runner.seconds = origin, elapsed(start)
    known = [(number, k) for number, k in enumerate(compiled.kernels) if k is not None]
    quick = {number: kernel for number, kernel in known if not kernel.final}
    runner.is_final = not quick
    if quick:
        waiting = set(quick)

        def use(number: int, image: Image) -> None:
            step = runner.steps[number]
            assert isinstance(step, Launch)
            step.use(image)
            waiting.discard(number)
            runner.is_final = not waiting

        runner.improve = lambda: _improve(name, compiled, options, use)
        if not compiled.worth_best:
            # What compiling it for good takes: a structure must have run as long as that in one
            # process, or short programs would share the processor with compilations that they
            # gain nothing from, each of them anew.
            lines = sum(k.module.text.count("\n") for k in quick.values())
            runner.trial = machine.current().compile_line * lines
    return runner


def improve_stored(name: str, options: Options, use: Use) -> None:
    """The same for a program that runs as it was on disk."""
    compiled: Compiled | None = kept.read(name)
    if compiled is not None:
        _improve(name, compiled, options, use)


def _improve(name: str, compiled: Compiled, options: Options, use: Use) -> None:
    """Swap in the best code, kernel by kernel, and keep each at once: the process may end before
    the next one is done.
    """
    if not compiled.worth_best:
        compiled = replace(compiled, worth_best=True)
        kept.write(name, compiled)
        stored_programs.note_worth(name)
    for number, kernel in enumerate(compiled.kernels):
        if kernel is not None and not kernel.final:
            better = finishing.improve(kernel, select(options.features))
            compiled = compiled.improved(number, better)
            use(number, better.image)
            kept.write(name, compiled)
            stored_programs.note_better(name, number, better.image)

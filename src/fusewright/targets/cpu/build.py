"""Compiling a slice: plan, lower, generate code; quick code at once where the best takes long."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import lru_cache, partial
from queue import SimpleQueue
from threading import Thread

from fusewright.base.options import Options
from fusewright.codegen.canonical import lower_once
from fusewright.ir import graph, verify
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.nest import Program
from fusewright.plan import fuse, serial, stages
from fusewright.plan import verify as check
from fusewright.plan.plan import Kernel, Plan
from fusewright.runtime.image import Image
from fusewright.runtime.trace import Slice
from fusewright.targets.cpu import compiler, portions
from fusewright.targets.cpu.compiled import Compiled, CompiledKernel
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.launch import fetcher, integer

QUICK = 200
"""Lines of LLVM text above which code is generated without optimisation first: level 0 takes a
quarter of the time (a reduction 3 ms instead of 11), and its code at most 2.5 times as long in the
caches, 1.3 times from memory."""
BEST = 2
"""The level of final code: there are no IR passes to gain from a higher one."""

Submit = Callable[[str, int], Callable[[], Image]]


def decide(slice_: Slice, options: Options) -> tuple[Program, Plan]:
    """What would run: the slice as stages, and how they are grouped."""
    order, outputs = slice_.order, frozenset(slice_.outputs)
    reusable = frozenset(slice_.slots[node] for node in slice_.reusable)
    program = stages.build(order, outputs, reusable, options.fuse, slice_.staged)
    leaves = {slot for slot, node in enumerate(order) if node.kind == graph.LEAF}
    if options.debug:
        verify.check_program(program, len(order), leaves)
    values = [fetcher(source, order[source.slot].kind)(order) for source in program.arguments]

    def size(expr: Expr) -> int:
        return integer(expr)(values)

    plan = fuse.group(program, size, options.fuse)
    if options.fuse and slice_.is_small:
        plan = serial.joined(plan)
    if options.debug:
        check.check_plan(program, plan, leaves)
    return program, plan


def build(slice_: Slice, options: Options) -> Compiled:
    """Plan and compile a slice."""
    order = slice_.order
    program, plan = decide(slice_, options)
    if portions.is_hungry(order, plan, program.outputs):
        raise portions.TooMuch
    features = select(options.features)
    scalars = {
        number: order[source.slot].dtype
        for number, source in enumerate(program.arguments)
        if source.what == "scalar"
    }
    wanted = [step for step in plan.steps if isinstance(step, Kernel)]
    with _images(len(wanted), features) as submit:
        made = [
            _kernel(program, step, features, scalars, options, slice_.is_large, submit)
            for step in wanted
        ]
    finished = iter([kernel() for kernel in made])
    kernels = tuple(next(finished) if isinstance(step, Kernel) else None for step in plan.steps)
    return Compiled(program, plan, kernels, tuple(node.kind for node in order))


@contextmanager
def _images(count: int, features: FeatureSet) -> Iterator[Submit]:
    """Text and level to a promise of machine code: with several kernels, LLVM works on one while
    the next is being written.
    """
    if count < 2:
        yield lambda text, level: lambda: _image(text, features, level)
        return
    # Not `concurrent.futures`: it brings `logging` with it, and a lock that forks wait for.
    jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
    thread = Thread(target=_work, args=(jobs,), name="fusewright-llvm", daemon=True)
    working[thread] = jobs
    try:
        thread.start()
        yield lambda text, level: _promise(
            jobs, partial(copy_context().run, _image, text, features, level)
        )
    finally:
        _end(thread)


working: dict[Thread, SimpleQueue[Callable[[], None] | None]] = {}
"""The threads that compile, and what gives them work.  They are daemons, since an interruption may
come at any place: even where it keeps one of them from being told to end, the exit does so.
"""


def _end(thread: Thread) -> None:
    working[thread].put(None)
    if thread.ident is not None:
        thread.join()
    working.pop(thread, None)


def _end_all() -> None:
    """At exit LLVM must not be in the middle of a compilation."""
    for thread in list(working):
        _end(thread)


atexit.register(_end_all)
os.register_at_fork(after_in_child=working.clear)


def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def _promise(
    jobs: SimpleQueue[Callable[[], None] | None], compute: Callable[[], Image]
) -> Callable[[], Image]:
    """Have it computed; what is returned waits for it, once."""
    answer: SimpleQueue[tuple[Image | None, BaseException | None]] = SimpleQueue()

    def job() -> None:
        try:
            answer.put((compute(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is wanted
            answer.put((None, error))

    def result() -> Image:
        image, error = answer.get()
        if error is not None:
            raise error
        assert image is not None
        return image

    jobs.put(job)
    return result


def _kernel(
    program: Program,
    kernel: Kernel,
    features: FeatureSet,
    scalars: dict[int, DType],
    options: Options,
    large: bool,
    submit: Submit,
) -> Callable[[], CompiledKernel]:
    module = lower_once(program, kernel, features.vector_bytes, large)
    quick = options.background and module.text.count("\n") > QUICK
    image = submit(module.text, 0 if quick else BEST)
    work = 0.05 * sum(
        len(list(postorder([nest.body]))) for m in kernel.members for nest in m.stage.nests
    )
    return lambda: CompiledKernel(kernel, module, image(), work, scalars, not quick)


@lru_cache(maxsize=256)
def _image(text: str, features: FeatureSet, level: int) -> Image:
    """Machine code; kernels of one text (the steps of a loop) are compiled once."""
    return compiler.compile_ir(text, features, level)


def improve(quick: CompiledKernel, features: FeatureSet) -> CompiledKernel:
    """The same kernel with the best code."""
    image = _image(quick.module.text, features, BEST)
    return replace(quick, image=image, final=True)

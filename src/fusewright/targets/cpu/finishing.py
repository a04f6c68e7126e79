"""Code for kernels whose text is there: the first, and better code later.  What is planned was
planned once, maybe by an earlier process: nothing here needs the planner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fusewright.base import progress
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.compiled import BEST, NOT_MADE, Compiled, CompiledKernel
from fusewright.targets.cpu.features import FeatureSet


def finished(planned: Compiled, submit: compiler.Submit) -> Compiled:
    """With code for all kernels, which LLVM is given at once."""
    left = left_to_make(planned)
    with progress.show("compiling", len(left)) as done:
        promises = [submit(kernel.module.text, kernel.level) for _, kernel in left]
        for (number, kernel), promise in zip(left, promises, strict=True):
            planned = planned.improved(number, replace(kernel, image=promise()))
            done()
    return planned


def finished_in_steps(
    planned: Compiled, features: FeatureSet, keep: Callable[[Compiled], None]
) -> Compiled:
    """The same one after the other; `keep` gets what is there after each that takes long, since the
    process may end before the next one is done.
    """
    left = left_to_make(planned)
    for number, kernel in left:
        image = compiler.compile_ir(kernel.module.text, features, kernel.level)
        planned = planned.improved(number, replace(kernel, image=image))
        if not kernel.final and number != left[-1][0]:
            keep(planned)
    return planned


def improve(quick: CompiledKernel, features: FeatureSet) -> CompiledKernel:
    """The same kernel with the best code."""
    image = compiler.compile_ir(quick.module.text, features, BEST)
    return replace(quick, image=image, final=True)


def left_to_make(planned: Compiled) -> list[tuple[int, CompiledKernel]]:
    """The kernels that have no code yet, by number."""
    return [
        (number, kernel)
        for number, kernel in enumerate(planned.kernels)
        if kernel is not None and kernel.image == NOT_MADE
    ]

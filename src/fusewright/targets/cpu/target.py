"""Vectors and threads of this processor, through LLVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.later import later
from fusewright.base.options import Options
from fusewright.ir.graph import Memory
from fusewright.runtime import buffers
from fusewright.runtime.image import Executable
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.target import Description

if TYPE_CHECKING:
    from fusewright.targets.cpu import ahead, compiler, loops, obtaining, recurrences, threads
else:  # each kind of program loads what it needs
    ahead = later("fusewright.targets.cpu.ahead")
    compiler = later("fusewright.targets.cpu.compiler")
    loops = later("fusewright.targets.cpu.loops")
    obtaining = later("fusewright.targets.cpu.obtaining")
    recurrences = later("fusewright.targets.cpu.recurrences")
    threads = later("fusewright.targets.cpu.threads")

_KINDS: dict[str, Callable[..., Any]] = {
    "Kernel": lambda program, options: loops.obtain(program, options),
    "Phases": lambda program, options: recurrences.columns_of(program, options),
    "Slice": lambda program, options: obtaining.obtain_slice(program, options),
    "Written": lambda program, options, make=True: recurrences.obtain(program, options, make),
}
"""By the names of the programs' classes: none is loaded for this."""


def features(option: str) -> FeatureSet:
    """The vector instructions that code is made for."""
    return select(option)


def compile(program: Any, options: Options, **how: Any) -> Any:
    """Machine code: known, kept on disk, or made now."""
    return _KINDS[type(program).__name__](program, options, **how)


def allocate(nbytes: int) -> Memory:
    """From the pool."""
    return buffers.allocate(nbytes)


def copy(source: np.ndarray[Any, Any], memory: Memory) -> None:
    """The elements of an array, in C order."""
    window: np.ndarray[Any, Any] = np.ndarray(source.shape, source.dtype, memory.owner)
    window[...] = source


def launch(
    code: Executable[Any], words: Sequence[int], units: int, grain: int = 1, scratch: int = 0
) -> None:
    """On the threads that the settings grant."""
    threads.run_units(code.address, words, units, grain, scratch)


def describe() -> Description:
    """LLVM, and what was compiled at installation."""
    stale = ahead.is_stale()
    return Description(compiler.version(), ahead.count(), stale, threads.fork_join_seconds)

"""A slice compiled, as data: what the disk keeps so that a new process need not plan or compile."""

from __future__ import annotations

from dataclasses import replace

from fusewright.base.values import dataclass
from fusewright.codegen.module import Module
from fusewright.ir.dtypes import DType
from fusewright.ir.nest import Program
from fusewright.plan.plan import Kernel, Plan
from fusewright.runtime.image import Image

BEST = 2
"""The level of final code: there are no IR passes to gain from a higher one."""
NOT_MADE = Image(b"", 0, 0, (), (), ())
"""The code of a kernel that is planned and has none yet."""


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """One kernel's text and machine code.  `work` is nanoseconds for one element, roughly;
    `scalars` the dtypes of parameters that are not integers of the structure; `final` whether the
    code is the best we make.
    """

    kernel: Kernel
    module: Module
    image: Image
    work: float
    scalars: dict[int, DType]
    final: bool

    @property
    def level(self) -> int:
        """That of the code, made or to be made."""
        return BEST if self.final else 0


@dataclass(frozen=True, slots=True)
class Compiled:
    """A slice's program, plan, and code; `kernels` stands in the order of the plan's steps, None
    for a library step.

    `kinds` are the kinds of the slice's nodes; `is_large` says that results are written past the
    caches, `worth_best` that a process has run it for as long as the best code takes to make: the
    next one need not find out again.
    """

    program: Program
    plan: Plan
    kernels: tuple[CompiledKernel | None, ...]
    kinds: tuple[int, ...]
    is_large: bool = False
    worth_best: bool = False

    def improved(self, number: int, kernel: CompiledKernel) -> Compiled:
        """The same with better code for one kernel."""
        kernels = (*self.kernels[:number], kernel, *self.kernels[number + 1 :])
        return replace(self, kernels=kernels)

"""The meaning of programs, run by NumPy: no machine code, one operation or statement at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fusewright.base.later import later
from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.ir.graph import Memory, memory_of
from fusewright.targets.target import Description

if TYPE_CHECKING:
    from fusewright.ir.fused import Array
    from fusewright.ir.graph import Node
    from fusewright.ir.loops import interpret
    from fusewright.ir.loops.statements import Kernel
    from fusewright.ir.recurrences import phases
    from fusewright.targets.reference import interpreter
else:  # each kind of program loads what it needs
    interpret = later("fusewright.ir.loops.interpret")
    interpreter = later("fusewright.targets.reference.interpreter")
    phases = later("fusewright.ir.recurrences.phases")


@dataclass(frozen=True, slots=True)
class InterpretedLoops:
    """A kernel of loops, statement by statement."""

    kernel: Kernel

    def run(self, arrays: Sequence[Any], params: Sequence[Any], failed: interpret.Failed) -> None:
        """Run it on the arrays it is given, with a value for each parameter."""
        interpret.run(self.kernel, list(arrays), list(params), _show, failed)


@dataclass(frozen=True, slots=True)
class InterpretedPhases:
    """Lists of statements, each on whole rows."""

    phases: phases.Phases

    def run(self, scalars: Mapping[str, Any], leaves: Mapping[str, Any]) -> Array:
        """The results, one row each."""
        return phases.run_phases(self.phases, scalars, leaves)


@dataclass(frozen=True, slots=True)
class InterpretedSlice:
    """Array operations, node by node."""

    outputs: tuple[int, ...]

    def run(self, order: Sequence[Node], options: Options, compute: Any) -> None:
        """Make the outputs of a slice leaves."""
        interpreter.evaluate([order[slot] for slot in self.outputs])


class _Features(NamedTuple):
    name: str
    vector_bytes: int


_KINDS: dict[str, Callable[[Any], Any]] = {
    "Kernel": InterpretedLoops,
    "Phases": InterpretedPhases,
    "Slice": lambda program: InterpretedSlice(program.outputs),
}


def features(option: str) -> _Features:
    """One double at a time, whatever the setting."""
    return _Features("NumPy", 8)


def compile(program: Any, options: Options) -> Any:
    """The program with its interpreter."""
    return _KINDS[type(program).__name__](program)


def allocate(nbytes: int) -> Memory:
    """From NumPy."""
    return memory_of(np.empty(nbytes, np.uint8))


def copy(source: np.ndarray[Any, Any], memory: Memory) -> None:
    """The elements of an array, in C order."""
    window: np.ndarray[Any, Any] = np.ndarray(source.shape, source.dtype, memory.owner)
    window[...] = source


def launch(
    code: Callable[..., None], words: Sequence[Any], units: int, grain: int = 1, scratch: int = 0
) -> None:
    """A function of Python's, unit by unit: `code(words, unit)`."""
    for unit in range(units):
        code(words, unit)


def describe() -> Description:
    """NumPy."""
    return Description(f"NumPy {np.__version__}", 0, False, lambda: 0.0)


def _show(text: str) -> None:
    sys.stdout.write(text)

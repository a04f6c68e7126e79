"""What a target gives: six functions.  A target is a module that has them, found by its name.

Two come with the package; others are found by entry points of the group `fusewright.targets`, whose
values name modules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import numpy as np

from fusewright.base.later import load
from fusewright.base.options import Options, current
from fusewright.base.values import dataclass

if TYPE_CHECKING:
    from fusewright.ir.graph import Memory
    from fusewright.ir.loops.statements import Kernel
    from fusewright.ir.recurrences.phases import Phases
    from fusewright.runtime.image import Executable
    from fusewright.runtime.trace import Slice
    from fusewright.targets.executable import (
        Features,
        LoopExecutable,
        Runnable,
        Written,
    )

NDArray = np.ndarray[Any, Any]
S = TypeVar("S")
GROUP = "fusewright.targets"
OWN = {name: f"fusewright.targets.{name}.target" for name in ("cpu", "reference")}
"""Asked first: to read the entry points of all that is installed takes 10 ms."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a target says of itself.

    `compiler` is its name and version; `ahead` counts the operations that were compiled when the
    package was installed, which `is_stale` says belong to other sources; `launch_seconds` measures
    what starting and ending work on all threads costs.
    """

    compiler: str
    ahead: int
    is_stale: bool
    launch_seconds: Callable[[], float]


class Target(Protocol):
    """A place where programs run."""

    def features(self, option: str) -> Features:
        """What code is made for under this setting; a `FusewrightError` where it cannot run."""

    @overload
    def compile(self, program: Kernel, options: Options) -> LoopExecutable: ...
    @overload
    def compile(self, program: Written[S], options: Options) -> Executable[S]: ...
    @overload
    def compile(
        self, program: Written[S], options: Options, make: bool
    ) -> Executable[S] | None: ...
    @overload
    def compile(self, program: Phases | Slice, options: Options) -> Runnable: ...
    def compile(self, program: Any, options: Options, make: bool = True) -> Any:
        """The code of a program: known, kept on disk, or made now (without `make`: else None).

        Kernels of loops run on arrays and numbers (only the CPU's are planned: of others `run` is
        all that is asked for), lists of statements on rows (scalars, leaves); the operations of a
        slice on its nodes, which become leaves.
        """

    def allocate(self, nbytes: int) -> Memory:
        """So many bytes that code may use."""

    def copy(self, source: NDArray, memory: Memory) -> None:
        """Put the elements of an array into memory, in C order."""

    def launch(
        self,
        code: Executable[Any],
        words: Sequence[Any],
        units: int,
        grain: int = 1,
        scratch: int = 0,
    ) -> None:
        """Run units [0, units) of code on these argument words, in ranges that are multiples of
        `grain`, each range with so many bytes of scratch.
        """

    def describe(self) -> Description:
        """For bug reports and `fusewright doctor`."""


known_targets: dict[str, Target] = {}


def target(name: str | None = None) -> Target:
    """The target of this name; without one that of the settings."""
    wanted = current().target if name is None else name
    found = known_targets.get(wanted)
    if found is None:
        found = known_targets[wanted] = _loaded(wanted)
    return found


def _loaded(name: str) -> Target:
    module = OWN.get(name)
    if module is None:
        # Imported here: few programs have other targets.
        from importlib.metadata import entry_points

        (found,) = entry_points(group=GROUP, name=name)
        module = found.value
    target: Target = load(module)
    return target

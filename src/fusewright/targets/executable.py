"""What a target makes of a program: code, the signature of its argument words, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from fusewright.base.options import Options
from fusewright.plan.loops.plan import Settings
from fusewright.runtime.kept import Origin
from fusewright.runtime.limits import default_threads

if TYPE_CHECKING:
    from fusewright.codegen.module import Module, Word
    from fusewright.ir.loops.interpret import Failed
    from fusewright.ir.loops.statements import Kernel
    from fusewright.plan.loops.plan import LoopPlan

NDArray = np.ndarray[Any, Any]
S = TypeVar("S")
Team = tuple[Callable[[], int], Callable[[], None]]
"""How threads are taken for a kernel that launches its parts itself, and given back."""


class Features(Protocol):
    """What code is made for: a name, and the bytes of the widest vector."""

    @property
    def name(self) -> str: ...
    @property
    def vector_bytes(self) -> int: ...


class Executable(Protocol):
    """The code of a program; what `run` takes and gives depends on the kind of program."""

    def run(self, *arguments: Any) -> Any:
        """Run it, to the end."""


@dataclass(frozen=True, slots=True)
class Written(Generic[S]):
    """A program as LLVM text, for targets that read it.

    `key` has all that the text depends on, but for the machine and this package; `write` gives the
    signature and the text for so many lanes of doubles.
    """

    key: Any
    write: Callable[[int], tuple[S, str]]


@dataclass(frozen=True, slots=True)
class UnitCode(Generic[S]):
    """Code of units, for `Target.launch`; its caller makes the words that the signature says."""

    signature: S
    code: Any


@dataclass(frozen=True, slots=True)
class Given:
    """A word that is taken from the values of each call: their number."""

    number: int


class BoundKernel(Protocol):
    """Compiled loops with everything but addresses and numbers filled in.

    `words` are the argument words, with the values `moving` (place, number of the value) to be
    filled in; `releases` says whether other threads may run meanwhile; `team` is the place of the
    threads (0: it runs on one).
    """

    @property
    def executable(self) -> LoopExecutable: ...
    @property
    def words(self) -> list[Any]: ...
    @property
    def moving(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def releases(self) -> bool: ...
    @property
    def team(self) -> int: ...
    @property
    def threads(self) -> int: ...
    def run(self, values: Sequence[Any]) -> bool:
        """Whether it ran: it does not where arrays overlap, or a number is too large."""

    def launched(self, words: list[Any]) -> bool:
        """Whether it ran on these words, the threads' filled in."""


class LoopExecutable(Protocol):
    """A kernel of loops, ready to be called.

    `module` has its text and its signature; `origin`, `seconds` and `made` say where it came from,
    what that took, and when; `counts` how often each of two forms has run; `address` is where the
    code begins.
    """

    kernel: Kernel
    plan: LoopPlan
    module: Module
    origin: Origin
    seconds: float
    made: float
    settings: Settings
    name: str
    address: int
    counts: Any

    @property
    def features(self) -> Features: ...
    @property
    def is_threaded(self) -> bool:
        """Whether it has loops that threads may share."""

    def needs(self, buffer: int) -> bool:
        """Whether a buffer must have memory; a dead one may have become registers."""

    def run(self, arrays: Sequence[Any], params: Sequence[Any], failed: Failed) -> None:
        """Run it on the arrays it is given, with a value for each parameter."""

    def failure(self, report: Sequence[int], failed: Failed) -> Exception:
        """The error of the check that a report names."""

    def team(self) -> Team | None:
        """How its threads are taken and given back; None where it runs on one."""

    def bind(
        self, arrays: Mapping[int, NDArray], word_of: Callable[[Word], Given | int | None]
    ) -> BoundKernel | None:
        """A form for calls with arrays laid out as these (by the buffers' numbers); `word_of` says
        what a word is, None where such calls take the long way.
        """


def settings_of(options: Options) -> Settings:
    """What plans of loops depend on."""
    threads = options.threads or default_threads()
    level: Any = options.fuse_level
    fuse = options.fuse and not options.graph
    return Settings(fuse, level, threads > 1, reassociate=options.reassociate)

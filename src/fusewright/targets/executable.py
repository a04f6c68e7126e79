"""What a target makes of a program: code, the signature of its argument words, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.plan.loops.plan import Settings
from fusewright.runtime.kept import Origin
from fusewright.runtime.limits import default_threads

if TYPE_CHECKING:
    from fusewright.codegen.module import Module
    from fusewright.ir.loops.interpret import Failed
    from fusewright.ir.loops.statements import Kernel
    from fusewright.plan.loops.plan import LoopPlan

S = TypeVar("S")


class Features(Protocol):
    """What code is made for: a name, and the bytes of the widest vector."""

    @property
    def name(self) -> str: ...
    @property
    def vector_bytes(self) -> int: ...


class Runnable(Protocol):
    """A program ready to run; what `run` takes and gives depends on its kind."""

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


class LoopExecutable(Protocol):
    """A kernel of loops, ready to be called.

    `signature` has its text, too; `origin`, `seconds` and `made` say where it came from,
    what that took, and when; `counts` how often each of two forms has run; `address` is where the
    code begins.
    """

    kernel: Kernel
    plan: LoopPlan
    signature: Module
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

    @property
    def team(self) -> int:
        """The place of the threads among its words; -1 where it runs on one."""


def settings_of(options: Options) -> Settings:
    """What plans of loops depend on."""
    threads = options.threads or default_threads()
    level: Any = options.fuse_level
    fuse = options.fuse and not options.graph
    return Settings(fuse, level, threads > 1, reassociate=options.reassociate)

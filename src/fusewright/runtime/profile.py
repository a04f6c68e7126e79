"""The record of what ran: one `Flush` each time a value was asked for, with its steps.
 Nothing is recorded (and nothing costs time) unless somebody listens: `fw.explain`, `--explain`,
`--report`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from time import perf_counter
from typing import Literal, NamedTuple

from fusewright._core import native
from fusewright.base import hooks
from fusewright.base.values import dataclass
from fusewright.base.words import count
from fusewright.ir.library_steps import ON_PURPOSE
from fusewright.runtime.decisions import code_of
from fusewright.runtime.listening import listeners as listeners
from fusewright.runtime.listening import watchers
from fusewright.runtime.once import Once, elapsed, forget, hear

Line = tuple[str, int, int, int]
"""File, line, column, end column of the user's code."""


class Operation(NamedTuple):
    """One recorded array operation inside a step: what, where written, where its result lives.

    `place` is `register` (inlined, never stored), `row` (a tile or row buffer in cache), `memory`
    (stored in DRAM), or `input`; `why` says why a result has a place of its own.  Of a kernel of
    loops each loop is one, without a dtype: `place` is how it runs, `why` what keeps it in order.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    place: str
    line: Line | None = None
    why: str = ""

    @property
    def is_ordered(self) -> bool:
        """Whether it is a loop that runs in order, as a whole or inside each of its blocks."""
        return self.place.endswith("in order")


def first_case(why: str) -> str:
    r"""The first line of a reason, and how many more cases it has.

    >>> first_case("reads what is written\nand the other way round")
    'reads what is written (and 1 more case)'
    """
    first, *more = why.splitlines() or [""]
    return f"{first} (and {count(len(more), 'more case')})" if more else first


class Decision(NamedTuple):
    """Something the planner decided and why: `fused` two steps (what it saves) or did not (what
    stood in the way).
    """

    fused: bool
    what: str
    why: str
    line: Line | None = None

    @property
    def word(self) -> str:
        """`fused` or `not fused`."""
        return "fused" if self.fused else "not fused"

    def lines(self, at: str = "") -> Iterator[str]:
        """As text: what was decided `at` a line, why, and the code of a reason that has a page;
        then what the reason goes on to say.
        """
        first, *more = self.why.splitlines() or [""]
        code = "" if self.fused else f" [{self.code}]"
        yield f"{self.word}: {self.what}: {first}{code}{at}"
        yield from (f"  {line.strip()}" for line in more)

    @property
    def short(self) -> str:
        """Why, in one line: a reason may have several cases."""
        return first_case(self.why)

    @property
    def code(self) -> str:
        """`FW401`: the class of the reason, which has a page (`fusewright help FW401`)."""
        return code_of(self.fused, self.why)


def no_listing() -> str:
    """Nothing: where no loops are known."""
    return ""


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """A compiled kernel that ran; `bytes_unfused` is what its operations move one at a time.

    `kind` says whether it computes array operations, products of matrices with what is fused with
    them, or the loops of an `fw.kernel`: then the bytes are the sizes of the arrays that it reads
    and of those that it writes.  `listing` writes its loops as text: that takes long, and few of
    those who listen read it.
    """

    name: str
    start: float
    seconds: float
    threads: int
    bytes_read: int
    bytes_written: int
    bytes_unfused: int
    operations: tuple[Operation, ...]
    decisions: tuple[Decision, ...]
    origin: Literal["memory", "disk", "compiled"]
    compile_seconds: float
    llvm: str
    kind: Literal["arrays", "products", "loops"] = "arrays"
    listing: Callable[[], str] = field(default=no_listing, compare=False)

    @property
    def loops(self) -> str:
        """Its loops as text."""
        return self.listing()


class OpaqueRecord(NamedTuple):
    """A library step that ran as it is (`library` is e.g. `numpy`), and why it was not compiled."""

    name: str
    library: str
    start: float
    seconds: float
    why: str
    line: Line | None = None

    @property
    def reason(self) -> str:
        """Why, in a sentence: what the documentation lists is left to the library on purpose."""
        return left_to_library(self.why)


def left_to_library(why: str) -> str:
    """The same of a reason.

    >>> left_to_library("it has no compiled form"), left_to_library(ON_PURPOSE)
    ('not compiled: it has no compiled form', 'left to the library, as documented')
    """
    return "left to the library, as documented" if why == ON_PURPOSE else f"not compiled: {why}"


Step = KernelRecord | OpaqueRecord


@dataclass(slots=True)
class Flush:
    """One evaluation: what asked for a value (`float()`, `np.asarray`, ...), and the steps it ran,
    in order.  `is_slow`: without a listener its operations run one by one, which is faster;
    `telling` are the seconds of it that went into these records.
    """

    trigger: str
    line: Line | None
    start: float
    seconds: float = 0.0
    steps: list[Step] = field(default_factory=list)
    is_slow: bool = False
    telling: float = 0.0


@dataclass(slots=True)
class Profile:
    """Everything that ran while somebody listened; times are `time.perf_counter()` seconds.

    `once` is what this process did once: it loaded modules of ours and translated kernels.
    `recording` are the seconds that operators and functions of arrays took to record, known when
    the listening has ended; None without the native core, which alone counts them.  `telling` are
    those that went into these records themselves: without a listener nobody spends them.
    """

    flushes: list[Flush] = field(default_factory=list)
    began: float = field(default_factory=perf_counter, compare=False)
    recording: float | None = field(default=None, compare=False)
    telling: float = field(default=0.0, compare=False)
    once: list[Once] = field(default_factory=list, compare=False)

    @property
    def kernels(self) -> list[KernelRecord]:
        return [s for f in self.flushes for s in f.steps if isinstance(s, KernelRecord)]

    @property
    def opaque(self) -> list[OpaqueRecord]:
        return [s for f in self.flushes for s in f.steps if isinstance(s, OpaqueRecord)]


class _Evaluation(threading.local):
    """The kernels of loops that ran in the evaluation a thread is in; None outside of one."""

    inside: list[Callable[[], KernelRecord]] | None = None


_evaluation = _Evaluation()


@contextmanager
def collect() -> Iterator[list[Callable[[], KernelRecord]]]:
    """The kernels of loops that run inside the `with` block, parts of one evaluation: what
    describes each, for describing takes time that is none of the evaluation's.
    """
    outer = _evaluation.inside
    found: list[Callable[[], KernelRecord]] = []
    _evaluation.inside = found
    try:
        yield found
    finally:
        _evaluation.inside = outer


def tell(
    describe: Callable[[], KernelRecord], trigger: str, line: Line | None, started: float
) -> None:
    """A kernel of loops has run: in the evaluation that goes on, or as one of its own, whose
    planning `started` before it.
    """
    if _evaluation.inside is not None:
        _evaluation.inside.append(describe)
        return
    not_recording(elapsed(started))
    began = perf_counter()
    kernel = describe()
    taken = kernel.start + kernel.seconds - started
    telling = elapsed(began)
    not_recording(telling)
    told(Flush(trigger, line, started, taken, [kernel]), telling)


def told(flush: Flush, telling: float = 0.0) -> None:
    """Every listener gets a record, which took so many seconds to make."""
    for each in listeners:
        each.flushes.append(flush)
        each.telling += telling


@contextmanager
def listen() -> Iterator[Profile]:
    """Record what runs inside the `with` block."""
    hooks.load_driver()  # it tells of steps that NumPy runs at once
    profile = Profile()
    hear(profile.once)
    _change(True, profile)
    before = recorded()
    try:
        yield profile
    finally:
        if before is not None:
            profile.recording = (recorded() or 0.0) - before
        _change(False, profile)
        forget(profile.once)


def recorded() -> float | None:
    """Seconds that this process has spent recording while somebody listened."""
    return None if native is None else native.recording_seconds()


def as_evaluation(function: Callable[..., None], *args: object) -> None:
    """Call a function whose time is an evaluation's, and no recording, whoever asked for it."""
    if native is None:
        function(*args)
    else:
        native.as_evaluation(function, args, {})


def not_recording(seconds: float) -> None:
    """What a call of ours has just spent was a step of its own."""
    if native is not None:
        native.not_recording(seconds)


def _change(comes: bool, profile: Profile) -> None:
    if comes:
        listeners.append(profile)
    else:
        # by identity: two profiles of the same events are equal
        listeners[:] = [each for each in listeners if each is not profile]
    if len(listeners) == comes:
        if native is not None:
            native.time_recording(comes)
        for watcher in watchers:
            watcher(comes)

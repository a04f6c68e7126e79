"""What the planner of loops decides, as data: the kernel's statements as they run, and which of
their loops run on threads or in vectors.

The planned kernel, run in order, does what the given one does, so it can be interpreted, printed
and compared.  That loops may run in any order is said beside it, by the numbers of their dims.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from fusewright.analysis.verdict import Condition
from fusewright.base.figures import STRIP
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr
from fusewright.ir.loops.statements import NOWHERE, Kernel

FAR = 64
"""Iterations between two that meet in strips, at most: a strip is many times as long."""
BLOCKS = 64
"""Blocks of a loop, at most: some for each thread, so that none waits long for another."""
CLOSE = 0.25
"""A share of traffic below which a prediction may be wrong: such plans are measured."""
IN_ORDER = "its elements are taken in NumPy's order, one after the other"
"""What keeps a sum, or another function of all elements of an array, in order."""
OF_FLOATS = "another order rounds differently, which `fw.options(reassociate=True)` allows"
"""What is said of a loop whose sums and products of floats alone keep it in order."""
Level = Literal["disjoint", "same", "dims", "shift", "overlap"]


@dataclass(frozen=True, slots=True)
class LoopReport:
    """How one loop of the planned kernel runs: dims on threads and in vectors, or in order and why.

    `because` is the line that keeps it in order; `folds` are variables updated in any order,
    `scans` those that blocks of iterations begin with.  `made` says that the loop is none of the
    user's: it runs over strips or blocks of those inside it, which run on its threads, or fills an
    array inside the kernel.  `blocks` are stretches of its iterations that threads share; `tile` is
    the number of rows that it adds up at a time.
    """

    span: Span
    dims: tuple[int, ...]
    names: tuple[str, ...]
    threads: bool
    vectors: bool
    why: str = ""
    because: Span = NOWHERE
    folds: tuple[str, ...] = ()
    scans: tuple[str, ...] = ()
    made: bool = False
    blocks: bool = False
    tile: int = 0

    @property
    def ways(self) -> tuple[str, ...]:
        """On what it runs: `threads`, `vectors`, both, or in order on neither."""
        found = (("threads", self.threads), ("vectors", self.vectors))
        return tuple(way for way, runs in found if runs)

    @property
    def parallel(self) -> bool:
        return bool(self.ways)


@dataclass(frozen=True, slots=True)
class PairReport:
    """What became of two loops, one after the other: fused at a level on these loops, or why not.

    `nbytes` is what fusing saves in each iteration: elements that stay in registers or in a cache;
    and it saves a launch.  `when` says for which parameters (empty: for all).
    """

    first: Span
    second: Span
    fused: bool
    level: Level | None
    on: tuple[str, ...] = ()
    why: str = ""
    nbytes: int = 0
    form: str = ""
    when: str = ""

    @property
    def in_strips(self) -> bool:
        """Whether the loops stay two, strip by strip."""
        return self.form.startswith("strips")


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """`kernel` is what runs.  `threads` and `vectors` are numbers of dims; `work` says for each dim
    on threads what one iteration costs, in picoseconds; `gone` are dead buffers that need no
    memory.  `folds` says for such dims which variables are updated in any order, by what; `copies`
    for dims on threads the same of arrays, of which each thread gets one of its own.  `wide` says
    for dims in vectors how many machine vectors they take at a time, where it is more than one.

    With a `guard` it is right only where that holds; `otherwise` is what runs elsewhere.  `gain` is
    the share of memory traffic that fusing is predicted to save.
    """

    kernel: Kernel
    threads: frozenset[int]
    vectors: frozenset[int]
    folds: dict[int, dict[int, str]] = field(default_factory=dict)
    copies: dict[int, dict[int, str]] = field(default_factory=dict)
    work: dict[int, Expr] = field(default_factory=dict)
    wide: dict[int, int] = field(default_factory=dict)
    loops: tuple[LoopReport, ...] = ()
    pairs: tuple[PairReport, ...] = ()
    gone: frozenset[int] = frozenset()
    guard: Condition | None = None
    otherwise: LoopPlan | None = None
    gain: float = 0.0

    @property
    def is_close(self) -> bool:
        """Whether it is fused and predicted to be little faster for it; strips always count as
        that: what they save lies in a cache or not.
        """
        fused = [pair for pair in self.pairs if pair.fused]
        return bool(fused) and (self.gain < CLOSE or any(pair.in_strips for pair in fused))

    @property
    def forms(self) -> tuple[LoopPlan, ...]:
        """The plans of which one runs."""
        return (self,) if self.otherwise is None else (self, self.otherwise)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a plan depends on besides the kernel: `threads` says that there may be several,
    `reassociate` that sums and products of floats may take any order.

    Strips have `elements` iterations, or `columns` where loops inside go over them again and again,
    or as many whole rows, between the two of `rows`, as `row_bytes` hold.

    Nests that add up run in tiles that fit into so many vector `registers`; tiles of `block_rows`
    rows (on one thread, and where threads share them) take turns with the same columns, which are
    packed for `block_depth` turns, `strip_bytes` side by side, two of the widest vectors: they fill
    32 KiB of the first-level cache.
    Measured on one thread, float32, 1024 rows: blocks of 32, 64 and 128 run at 41, 50 and 69
    GFLOP/s.
    """

    fuse: bool = True
    level: Level = "overlap"
    threads: bool = True
    elements: int = 1024
    columns: int = 1024
    rows: tuple[int, int] = (8, 64)
    row_bytes: int = STRIP
    reassociate: bool = False
    registers: int = 32
    block_rows: tuple[int, int] = (128, 64)
    block_depth: int = 256
    strip_bytes: int = 128

"""Computed arrays under a name: `d = p[i] - p[j]` is computed again wherever `d` is used, as long
as nothing it reads has been written since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fusewright.base.errors import KernelArrayError
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import overlap, storing
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import ArrayRef, Elementwise, Number, View
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const
from fusewright.ir.loops.statements import Statement, Store, blocks, walk


def kept(t: Translation, value: Elementwise) -> Elementwise:
    """The same, refusing to be computed later than it may be; an array, where it has to be one."""
    since = _Since(t, value, reads(t, value), t.out, len(t.out), t.nesting)

    def element(places: tuple[Expr, ...]) -> Number:
        since.look()
        return value.element(places)

    if not isinstance(value, View):
        return replace(value, element=element)

    def target(places: tuple[Expr, ...]) -> ArrayRef:
        since.look()
        return value.target(places)

    return replace(value, element=element, target=target)


def reads(t: Translation, value: Elementwise) -> frozenset[int]:
    """The buffers that its elements are computed from."""
    with t.block() as probed:
        first = value.element((const(0, INT64),) * len(value.shape))
    loads = overlap.loads_of(probed) + overlap.loads_in([first.expr])
    return frozenset(load.attr for load in loads)


@dataclass(frozen=True, slots=True, eq=False)
class _Since:
    """A place in a block, and the buffers that must not be written from there on."""

    t: Translation
    value: Elementwise
    reads: frozenset[int]
    block: list[Statement]
    start: int
    nesting: int

    def look(self) -> None:
        """Refuse a use here if something was written, or is later in a loop around the use."""
        chain = [*self.t.open, self.t.out]
        depth = next((n for n, block in enumerate(chain) if block is self.block), None)
        if depth is None:
            raise self._refused("in which it was computed has ended", "the function or branch")
        self._look_at(self.block[self.start :])
        for block in chain[depth + 1 :]:
            self._look_at(block)
        if self.t.nesting > self.nesting:
            here = len(self.block)
            self.t.at_end.append((self.block, lambda: self._look_at(self._loop(here))))

    def _loop(self, start: int) -> Sequence[Statement]:
        """The statement of the block, from `start` on, in which the use stands."""
        rest = self.block[start:]
        end = next((n for n, each in enumerate(rest) if blocks(each)), len(rest))
        return rest[: end + 1]

    def _look_at(self, written: Sequence[Statement]) -> None:
        for statement in walk(tuple(written)):
            if isinstance(statement, Store):
                if statement.buffer in self.reads:
                    raise self._refused("it is computed of is written before this use", "what")
                if statement.buffer not in self.t.scratch:
                    for read in self.reads - self.t.scratch.keys():
                        self.t.inputs.keep_apart(statement.buffer, read, False, self.value.span)

    def _refused(self, end: str, start: str) -> KernelArrayError:
        if not isinstance(self.value, View):
            storing.store(self.t, self.value)
        return KernelArrayError(
            "a computed array that is used later, and not stored",
            self.value.span,
            why=f"{start} {end}; a kernel has no memory for an array of any length",
            help="store it: in a work array that is an argument, w[:] = ..., or for a few elements "
            "v = fw.local(n) and v[:] = ...",
        )

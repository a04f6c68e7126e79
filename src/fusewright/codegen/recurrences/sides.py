"""The last steps of a class of integrals, one side after the other, as LLVM text: from functions
about one point to those of two shells.

    void ket(known, sums, out)    (e0|cd) of [e0|f0], for each e
    void bra(known, sums, out)    (ab|cd) of (e0|cd), for each cd

Every row (ket) or column (bra) takes the same step: the short list of one side in a loop, which
stays in the instruction cache, where one list for both sides would have tens of thousands of
statements.  `known` are the scalars of the list, or the pair's own matrix where a step has no list:
that of the bra has numbers, that of the ket vectors.
"""

from __future__ import annotations

from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.body import body
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.recurrences.straight import Straight

SIDE = "ptr noalias %known, ptr noalias %sums, ptr noalias %out"
_MOST_AT_ONCE = 9
"""Sums that are kept in registers: with an operand they fit into 16."""


@dataclass(frozen=True, slots=True)
class SideStep:
    """From `raised` functions, the leaves `e0`, `e1`, ..., to `functions`; without a list by a
    matrix for each pair.
    """

    raised: int
    functions: int
    straight: Straight | None

    @property
    def copies(self) -> bool:
        """Whether the functions are the raised ones as they are."""
        straight = self.straight
        return (
            straight is not None
            and not straight.statements
            and straight.leaves == tuple(f"e{n}" for n in range(self.raised))
            and straight.results == tuple(range(self.raised))
        )

    @property
    def scalars(self) -> tuple[str, ...]:
        """Of its list."""
        return self.straight.scalars if self.straight is not None else ()


def bra_text(step: SideStep, columns: int, lanes: int) -> str:
    """The function `bra`, and what it calls."""
    if step.straight is not None:
        return _loop(step.straight, "bra", lanes, (columns, 1, columns, 1), columns)
    return _MatrixStep(lanes).bra(step, columns)


def ket_text(step: SideStep, rows: int, lanes: int) -> str:
    """The function `ket`, and what it calls."""
    if step.straight is not None:
        return _loop(step.straight, "ket", lanes, (1, step.raised, 1, step.functions), rows)
    return _MatrixStep(lanes).ket(step, rows)


def _loop(
    straight: Straight, name: str, lanes: int, steps: tuple[int, int, int, int], many: int
) -> str:
    """A list, so many times; `steps` are vectors from leaf to leaf and from turn to turn, and the
    same of results.
    """
    text = Vectors(lanes)
    with text.loop("0", str(many)) as turn:
        sums = text.at("%sums", turn, steps[1] * text.bytes)
        out = text.at("%out", turn, steps[3] * text.bytes)
        text.do(f"call void @{name}.list(ptr %known, ptr {sums}, ptr {out})")
    places = [int(leaf.removeprefix("e")) * steps[0] for leaf in straight.leaves]
    inner = body(straight, f"{name}.list", lanes, leaf_places=places, step=steps[2])
    return inner + text.function(name, SIDE)


class _MatrixStep(Vectors):
    """Products with the matrix (functions, raised) of a pair, some sums at a time."""

    def bra(self, step: SideStep, columns: int) -> str:
        many = _at_once(step.functions)
        blocks = str(step.functions // many)
        with self.loop("0", str(columns)) as column, self.loop("0", blocks) as block:
            matrix = self.at("%known", block, 8 * many * step.raised)
            values = self.at("%sums", column, self.bytes)
            totals = [self.number(0.0)] * many
            for e in range(step.raised):
                value = self.load(values, e * columns)
                for n in range(many):
                    factor = self.broadcast(matrix, n * step.raised + e)
                    totals[n] = self.fma(factor, value, totals[n])
            first = self.at("%out", block, many * columns * self.bytes)
            out = self.at(first, column, self.bytes)
            for n, total in enumerate(totals):
                self.store(total, out, n * columns)
        return self.function("bra", SIDE)

    def ket(self, step: SideStep, rows: int) -> str:
        many = _at_once(rows)
        with self.loop("0", str(rows // many)) as block:
            values = self.at("%sums", block, many * step.raised * self.bytes)
            first = self.at("%out", block, many * step.functions * self.bytes)
            with self.loop("0", str(step.functions)) as function:
                matrix = self.at("%known", function, step.raised * self.bytes)
                totals = [self.number(0.0)] * many
                for f in range(step.raised):
                    factor = self.load(matrix, f)
                    for n in range(many):
                        value = self.load(values, n * step.raised + f)
                        totals[n] = self.fma(factor, value, totals[n])
                out = self.at(first, function, self.bytes)
                for n, total in enumerate(totals):
                    self.store(total, out, n * step.functions)
        return self.function("ket", SIDE)


def _at_once(many: int) -> int:
    """The largest divisor that fits into registers."""
    return max(n for n in range(1, _MOST_AT_ONCE + 1) if many % n == 0)

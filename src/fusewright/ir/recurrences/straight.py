"""Ordered lists of statements `t = c1*x1 + c2*x2 + ...`: straight-line code over columns.

Values are numbered: the scalars first, then the leaves, then one value for each statement.  A
scalar or a leaf is one number in each column; all columns compute the same and know nothing of one
another.  The order of the list is the order of the machine code.

**Meaning.**  A statement is a sum of terms, computed in float64 from left to right:

* the multiplier `m` of a term is
  `factor`                                 where the term has no coefficient,
  the value numbered `coefficient`         where it has one and `factor == 1.0`,
  `round(factor * values[coefficient])`    otherwise;
* the first term gives `acc = round(m * x)`, each following one `acc = fma(m, x, acc)`, which is
  rounded once.

Here `x` is the value numbered `value`, or 1 where `value` is None (a constant: such a term has no
coefficient).  With `m == 1.0` the first term is `x` itself and a following one the sum `acc + x`;
with `m == -1.0` it is `acc - x`: the same bits in fewer instructions, so code generators may spell
them so.  A multiplier may be computed once for many statements or anew for each: the same bits.

A coefficient is a scalar, or a statement that depends on scalars alone: products of several
scalars are statements `t = s0*s1` of their own.  So every statement is linear in the leaves.
"""

from __future__ import annotations

from fusewright.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Summand:
    """The term `factor * coefficient * value`; None where there is no such operand."""

    factor: float = 1.0
    coefficient: int | None = None
    value: int | None = None

    @property
    def operands(self) -> tuple[int, ...]:
        """The numbers of the values it reads."""
        return tuple(each for each in (self.coefficient, self.value) if each is not None)


Statement = tuple[Summand, ...]
"""One value: the sum of its terms, from left to right."""


@dataclass(frozen=True, slots=True)
class Straight:
    """Statements in order; `results` are the numbers of the values that leave (a number may stand
    there twice, or be that of a leaf).
    """

    scalars: tuple[str, ...]
    leaves: tuple[str, ...]
    statements: tuple[Statement, ...]
    results: tuple[int, ...]

    @property
    def first(self) -> int:
        """The number of the first statement's value."""
        return len(self.scalars) + len(self.leaves)

    def operands(self, statement: int) -> tuple[int, ...]:
        """The values that the statement at this place in the list reads, each once, in order."""
        reads = (read for term in self.statements[statement] for read in term.operands)
        return tuple(dict.fromkeys(reads))


def flops(straight: Straight) -> int:
    """Multiplications and additions in one column (a fused multiply-add counts as two)."""
    count = 0
    for statement in straight.statements:
        for place, term in enumerate(statement):
            scaled = term.coefficient is not None and term.factor != 1.0
            plain = term.coefficient is None and abs(term.factor) == 1.0
            count += scaled + (not plain and term.value is not None) + (place > 0)
    return count

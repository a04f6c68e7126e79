"""Random well-formed lists of statements."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from fusewright.ir.recurrences.straight import Straight, Summand

FACTORS = st.sampled_from([1.0, -1.0, 2.0, 0.1, -1 / 3, 1e-5])


@st.composite
def straights(draw: Any) -> Straight:
    scalars, leaves = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    coefficients, values = list(range(scalars)), list(range(scalars + leaves))
    statements = []
    for _ in range(draw(st.integers(1, 12))):
        terms = []
        of_scalars = bool(coefficients) and draw(st.integers(0, 5)) == 0
        for _ in range(draw(st.integers(1, 4))):
            if not of_scalars and draw(st.integers(0, 7)) == 0:
                terms.append(Summand(draw(FACTORS)))
                continue
            scaled = bool(coefficients) and draw(st.booleans())
            coefficient = draw(st.sampled_from(coefficients)) if scaled else None
            value = draw(st.sampled_from(coefficients if of_scalars else values))
            terms.append(Summand(draw(FACTORS), coefficient, value))
        number = len(values) + 0
        reads = [read for term in terms for read in term.operands]
        if reads and all(read in coefficients for read in reads):
            coefficients.append(number)
        values.append(number)
        statements.append(tuple(terms))
    used = {read for statement in statements for term in statement for read in term.operands}
    results = [n for n in values[scalars + leaves :] if n not in used]
    results += draw(st.lists(st.sampled_from(values), max_size=3))
    names = (tuple(f"{letter}{n}" for n in range(count)) for letter, count in
             (("a", scalars), ("f", leaves)))  # fmt: skip
    return Straight(*names, tuple(statements), tuple(results))

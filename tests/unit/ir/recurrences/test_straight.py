"""Lists of statements: text, well-formedness, and what they mean."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.ir.recurrences.lists import straights

from fusewright.base.errors import InternalError
from fusewright.ir.recurrences.interpret import exact, run
from fusewright.ir.recurrences.phases import Phases
from fusewright.ir.recurrences.straight import Straight, Summand, flops
from fusewright.ir.recurrences.text import parse_straight, straight_text
from fusewright.ir.recurrences.verify import check_phases, check_straight

TEXT = """scalars PA WP
leaves F0 F1
t0 = s0*x0 + s1*x1
t1 = s0*s1
t2 = 2.0*t1*t0 + -0.5*x0 + 3.0
results t2 x0
"""


def test_text_and_its_meaning() -> None:
    straight = parse_straight(TEXT)
    check_straight(straight)
    assert straight_text(straight) == TEXT
    assert straight.statements[2] == (Summand(2.0, 5, 4), Summand(-0.5, None, 2), Summand(3.0))
    got = run(straight, [2.0, [1.0, 3.0]], [[1.0, 2.0], [10.0, 20.0]])
    np.testing.assert_array_equal(got, [[2 * 2 * 12 - 0.5 + 3, 2 * 6 * 64 - 1 + 3], [1.0, 2.0]])
    assert flops(straight) == 3 + 1 + 2 + 2 + 1


@settings(max_examples=60, deadline=None)
@given(straights())
def test_text_parses_back(straight: Straight) -> None:
    check_straight(straight)
    assert parse_straight(straight_text(straight)) == straight


def rounded(number: Fraction) -> float:
    """To the nearest float64, ties to even: what Python's division of integers does."""
    return number.numerator / number.denominator


@settings(max_examples=60, deadline=None)
@given(straights(), st.randoms(use_true_random=False))
def test_interpreters_against_fractions(straight: Straight, chance: object) -> None:
    """Every rounding is where `straight.py` says; without roundings mpmath has the exact value."""
    rng = np.random.default_rng(chance.getrandbits(32))  # type: ignore[attr-defined]
    rows = rng.standard_normal((straight.first, 1))
    values = [Fraction(row[0]) for row in rows.tolist()]
    true = list(values)
    for statement in straight.statements:
        total, whole = None, Fraction(0)
        for term in statement:
            m, exactly = Fraction(term.factor), Fraction(term.factor)
            if term.coefficient is not None:
                m = Fraction(rounded(m * values[term.coefficient]))
                exactly *= true[term.coefficient]
            x = Fraction(1) if term.value is None else values[term.value]
            total = Fraction(rounded(m * x + (0 if total is None else total)))
            whole += exactly * (1 if term.value is None else true[term.value])
        values.append(total)
        true.append(whole)
    split = len(straight.scalars)
    got = run(straight, rows[:split], rows[split:])
    assert got[:, 0].tolist() == [float(values[number]) for number in straight.results]
    precise = exact(straight, rows[:split, 0], rows[split:, 0], 400)
    for value, number in zip(precise, straight.results, strict=True):
        expected = true[number]
        with mpmath.workdps(400):
            wanted = mpmath.mpf(expected.numerator) / expected.denominator
            assert abs(value - wanted) <= abs(wanted) * mpmath.mpf(10) ** -300


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("t0 = s0*x0", "t0 = s0*t1", "reads value 5, which comes later"),
        ("2.0*t1*t0", "2.0*t0*t1", "multiplies by what depends on leaves"),
        ("-0.5*x0", "0.0*x0", "t2 has a term that is zero"),
        ("-0.5*x0", "inf*x0", "t2 has the factor inf"),
        ("results t2 x0", "results t1 x0", "t2 is not used"),
        ("results t2 x0", "results t2 x7", "no value has the number 9"),
        ("leaves F0 F1", "leaves F0 F0", "a name stands twice"),
    ],
)
def test_what_is_not_well_formed(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(InternalError, match=words):
        check_straight(parse_straight(TEXT.replace(old, new)))


def test_what_text_cannot_say() -> None:
    with pytest.raises(InternalError, match="a coefficient without a value"):
        check_straight(Straight(("a",), (), ((Summand(2.0, 0, None),),), (1,)))
    with pytest.raises(InternalError, match="t0 has no terms"):
        check_straight(Straight(("a",), (), ((),), (1,)))
    with pytest.raises(InternalError, match="the name 'a b'"):
        check_straight(Straight(("a b",), (), (), (0,)))


@settings(max_examples=60, deadline=None)
@given(straights(), st.data())
def test_a_statement_before_what_it_reads_is_refused(
    straight: Straight, data: st.DataObject
) -> None:
    pairs = [
        (read - straight.first, place)
        for place in range(len(straight.statements))
        for read in straight.operands(place)
        if read >= straight.first
    ]
    if pairs:
        one, two = data.draw(st.sampled_from(pairs))
        statements = list(straight.statements)
        statements[one], statements[two] = statements[two], statements[one]
        with pytest.raises(InternalError, match=r"comes later|depends on leaves"):
            check_straight(replace(straight, statements=tuple(statements)))


def test_two_lists_fit() -> None:
    inner = parse_straight("scalars\nleaves F0\nresults x0\n")
    outer = parse_straight("scalars\nleaves sum:0\nresults x0\n")
    check_phases(Phases(outer, inner, "pairs"))
    check_phases(Phases(inner))
    with pytest.raises(InternalError, match="what the first list does not give"):
        check_phases(Phases(outer))
    with pytest.raises(InternalError, match="an axis without a sum"):
        check_phases(Phases(outer, inner))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TEXT.replace("scalars", "scalar"), "begins with `scalars`"),
        (TEXT.replace("t1 =", "t9 ="), "no statement number 1"),
        (TEXT.replace("t1 = s0*s1", "t1 = s0*y1"), "`y1` names no value"),
        (TEXT.replace("t1 = s0*s1", "t1 = s0*s1*x0"), "two operands"),
    ],
)
def test_what_is_no_text(text: str, words: str) -> None:
    with pytest.raises(InternalError, match=words):
        parse_straight(text)

"""Every pair of the catalogue: the page, the brute-force oracle and the analysis agree."""

import pytest
from tests.unit.analysis.catalogue import PAIRS, N
from tests.unit.analysis.oracle import Memory, Program, in_order, in_parallel, racy

from fusewright.analysis.carried import order
from fusewright.analysis.pairs import compare

BY_NUMBER = {pair.number: pair for pair in PAIRS}


def shift_of(verdict):
    """The page's column: the shift, at least 1; n-1 where none is constant."""
    if verdict.shift is None or verdict.shift[0] is None:
        return N - 1
    return max(1, verdict.shift[0])


def test_the_whole_page_is_here():
    numbers = {f"{k:02}" for k in range(1, 88)} | {"11b"}
    assert set(BY_NUMBER) == numbers
    assert sum(pair.par for pair in PAIRS) == 36
    assert sum(pair.seq for pair in PAIRS) == 47


@pytest.mark.parametrize("number", sorted(BY_NUMBER))
def test_page_and_oracle_agree(number):
    pair = BY_NUMBER[number]
    memory = Memory(pair.tables)
    a, b = Program(pair.a, {}, "A"), Program(pair.b, {}, "B")
    matched = ((0, 0),)
    if number not in ("57",):  # B's trip count is read from memory: no interleaving has it
        assert in_parallel(a, b, matched, memory) == pair.par
    assert in_order(a, b, matched, (0,), memory) == pair.seq
    found = next(s for s in range(1, 5) if in_order(a, b, matched, (s,), memory) or s == 4)
    assert number in ("39", "57") or found == pair.shift
    assert "".join(p.label for p in (a, b) if racy(p, memory)) == pair.racy


@pytest.mark.parametrize("number", sorted(BY_NUMBER))
def test_analysis_and_page_agree(number):
    pair = BY_NUMBER[number]
    verdict = compare(pair.a, pair.b, pair.facts)
    assert verdict.parallel == pair.par
    assert verdict.parallel or verdict.blockers
    seq, shift = verdict.in_order, shift_of(verdict)
    if "seq" in pair.imprecise:
        assert not seq
    else:
        assert seq == pair.seq
    if "shift" in pair.imprecise:
        assert shift > pair.shift
    else:
        assert shift == pair.shift
    found = [
        label for label, unit in (("A", pair.a), ("B", pair.b))
        if len(order(unit, pair.facts).carries)
    ]  # fmt: skip
    assert "".join(found) == pair.racy

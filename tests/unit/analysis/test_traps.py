"""Traps the catalogue warns of, where they concern the analysis, and what the user reads."""

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.unit.analysis.catalogue import PAIRS
from tests.unit.analysis.nests import (
    NAMED,
    Carried,
    Effect,
    Facts,
    X,
    dim,
    i,
    j,
    k,
    loop,
    m,
    n,
    nest,
    read,
    table,
    update,
    write,
)
from tests.unit.analysis.oracle import Memory, Program, outcome

from fusewright.analysis.alias import View, in_root, signature
from fusewright.analysis.carried import order
from fusewright.analysis.exact import forget
from fusewright.analysis.explain import describe, describe_order
from fusewright.analysis.linearised import taken_apart
from fusewright.analysis.pairs import compare, independent
from fusewright.ir.dtypes import INT32, INT64
from fusewright.ir.expr import cast, const, op


def told(a, b, facts=NAMED, level="dims"):
    return describe(compare(a, b, facts), a, b, facts, level)


def test_a_scalar_statement_between_loops_is_in_the_way():
    a, between = loop(n, write("a", i)), nest([], read("a", 5), write("s"))
    assert compare(a, between).level is None
    assert not independent(a, between)
    assert independent(between, loop(n, write("b", i)))


def test_reversed_view_of_the_same_array():
    places = signature([View(800, (8,), (6,), 8), View(840, (-8,), (6,), 8)])
    assert places[1].signs == (-1,)
    back = in_root(places[1], [i.expr], [n.expr])
    verdict = compare(loop(n, write("a", i)), loop(n, read("a", *back), write("o", i)), NAMED)
    assert verdict.level is None
    assert dict(verdict.blockers[0].witness.params) == {n.expr: 2}


def test_opaque_calls_and_possible_errors_keep_their_place():
    call, plain = loop(n, Effect("opaque"), write("b", i)), loop(n, read("a", i), write("c", i))
    assert not independent(call, plain)
    assert not independent(plain, call)
    trap, reader = loop(n, Effect("trap")), loop(n, read("a", i))
    assert independent(trap, reader)
    assert not independent(trap, plain)
    assert compare(plain, trap, NAMED).level is None


def test_redefining_the_bound_of_a_loop_that_has_begun_is_fine():
    a = loop(table(7, 0), read(7, 0, depth=0), write("a", i))
    b = loop(n, write(7, 0 * i))
    assert compare(a, b).level == "disjoint"
    assert compare(b, a).level is None


def test_int32_products_wrap():
    narrow = [cast(x.expr, INT32) for x in (i, j)]
    flat = op("add", op("multiply", narrow[0], const(1 << 20, INT32)), narrow[1])
    index = X(flat).to(INT64)
    for high, fine in ((1 << 11, True), (1 << 13, False)):
        dims = [dim(0, high), dim(1, 1 << 20)]
        verdict = compare(nest(dims, write("a", index)), nest(dims, read("a", index)))
        assert verdict.parallel == fine


def test_other_dtype_over_the_same_bytes():
    places = signature([View(800, (4,), (8,), 4), View(800, (8,), (4,), 8)])
    assert [place.kind for place in places] == ["bytes", "bytes"]
    cells = [in_root(place, [i.expr], [n.expr]) for place in places]
    verdict = compare(
        loop(8, write("r", *cells[0], width=4)), loop(4, read("r", *cells[1], width=8))
    )
    assert not verdict.parallel
    assert verdict.distance == ((-4, 0),)


def test_out_of_budget_is_not_proved():
    a, b = loop(n, write("a", i // 3 + i % 5)), loop(n, read("a", i // 2), write("o", i))
    facts = Facts(budget=20)
    verdict = compare(a, b, facts)
    assert verdict.level is None
    assert not verdict.blockers[0].proved
    assert "nothing proved within the budget of 20" in told(a, b, facts)
    assert order(a, facts).parallel == ()
    assert "nothing proved" in describe_order(order(a, facts), a, facts)
    assert compare(a, b).blockers[0].proved


@pytest.mark.parametrize("number", ["06", "15", "27", "62", "71", "86"])
def test_whatever_the_budget_nothing_false_is_proved(number):
    """Out of operations at any point, isl's answers are void."""
    pair = next(pair for pair in PAIRS if pair.number == number)
    whole = compare(pair.a, pair.b, pair.facts)
    ordered = order(pair.a, pair.facts)
    for budget in range(1, 4000, 37):
        forget()
        facts = replace(pair.facts, budget=budget)
        verdict = compare(pair.a, pair.b, facts)
        assert verdict == whole or not verdict.blockers[0].proved
        forget()
        found = order(pair.a, facts)
        assert (
            found == ordered
            or not all(carry.proved for carry in found.carries)
            or (set(found.separable) < set(ordered.separable))
        )


def test_a_long_chain_is_quick():
    """No question depends on how many came before."""
    loops = [loop(n, read(f"a{k}", i), write(f"a{k + 1}", i)) for k in range(200)]
    found = {compare(a, b).tier for a, b in pairwise(loops)}
    assert found == {"fast"}


def test_own_order_keeps_a_dim_inside():
    """x[i,j] = x[i-1,j+1] may not run column by column."""
    a = nest([dim(0, n), dim(1, m)], read("x", i - 1, j + 1), write("x", i, j))
    b = nest([dim(1, m)], write("s", j), read("x", k, j, inner=(dim(2, n),)))
    verdict = compare(a, b, NAMED)
    assert verdict.fused == ()
    assert verdict.pinned


def test_triangular_loops_are_not_turned():
    a = nest([dim(0, n), dim(1, i + 1)], write("a", i, j))
    b = nest([dim(1, n)], read("a", k, j, inner=(dim(2, n),)), write("o", j))
    assert compare(a, b, NAMED).fused == ()


def test_distance_and_overlap_of_a_stencil():
    a = loop(n, read("x", i), write("a", i))
    b = loop(n, read("a", i - 1), read("a", i), read("a", i + 1), write("o", i))
    verdict = compare(a, b, NAMED)
    assert verdict.level == "shift"
    assert (verdict.distance, verdict.shift) == (((-1, 1),), (1,))
    assert verdict.overlap == ((-1, 1),)
    assert not verdict.allowed("dims")
    assert verdict.allowed("overlap")


def test_no_overlapped_tiles_where_the_input_is_overwritten():
    a = loop(n, read("x", i), write("a", i))
    assert compare(a, loop(n, read("a", i + 1), write("x", i + 1)), NAMED).overlap is None
    in_place = loop(n, read("a", i), write("a", i))
    assert compare(in_place, loop(n, read("a", i + 1), write("o", i)), NAMED).overlap is None


def test_guard_from_the_illegal_parameters():
    a, b = loop(n, write("a", i % 8)), loop(n, read("a", i % 8), write("o", i))
    verdict = compare(a, b, NAMED)
    assert verdict.blockers[0].illegal.text == "n >= 9"
    assert repr(verdict.blockers[0].illegal.holds) == (
        "greater_equal(add(add(0, multiply(p0, 1)), -9), 0)"
    )
    assert compare(a, b, Facts(ranges=((0, 0, 8),))).level == "same"


def test_known_ranges_prove_that_a_square_is_one_to_one():
    pair = loop(n, write("a", i * i)), loop(n, read("a", i * i), write("o", i))
    assert not compare(*pair).parallel
    assert compare(*pair, Facts(ranges=((0, 0, 1 << 31),))).level == "same"


@pytest.mark.parametrize("observed", [True, False])
def test_reductions_are_recognised(observed):
    found = order(nest([dim(0, n), dim(1, m)], update("s", i, exact=False, observed=observed)))
    if observed:
        assert [(c.dim, c.kind, c.distance) for c in found.carries] == [(1, "RAW", (1, None))]
        assert not found.reductions
    else:
        assert [(r.array, r.op, r.dims, r.exact) for r in found.reductions] == [
            ("s", "add", (1,), False)
        ]
    assert found.parallel == (0,)
    assert found.separable == (0,)


def test_a_reduction_that_is_read_inside_is_none():
    found = order(loop(n, update("s"), read("s"), write("o", i)))
    assert not found.reductions
    assert found.carries[0].dim == 0


def test_carried_scalars():
    found = order(loop(n, write("a", i), Carried("total", 0, op="add", exact=True)))
    assert found.reduced == (0,)
    inside = nest([dim(0, n), dim(1, m)], write("a", i, j), Carried("k", 1))
    found = order(inside, NAMED)
    assert (found.parallel, found.separable) == ((0,), (0,))
    assert "`k` keeps its value" in describe_order(found, inside, NAMED)


def test_flat_loops_are_taken_apart():
    flat = nest([dim(0, n * m)], write("a", i // m, i % m), Effect("print", guards=(i % m > 0,)))
    apart = taken_apart(flat)
    assert [d.name for d in apart.dims] == ["i // p1", "i % p1"]
    memories = []
    for unit in (flat, apart):
        program = Program(unit, {0: 3, 1: 2}, "A")
        steps = [(program, point) for point in program.iterations(Memory())]
        memories.append({key for key, _ in outcome(steps, Memory())[0]})
        assert len(steps) == 6
    assert memories[0] == memories[1]
    writes = nest(flat.dims, *flat.accesses)
    assert order(taken_apart(writes), NAMED).parallel == (0, 1)
    assert order(writes, NAMED).parallel == ()


NOT_FUSED = """\
not fused: read after write of `a`, distance +1: e.g. n=2: loop 1 (line 12) writes a[0] at i=0, \
loop 2 (line 14) reads it at i=1; legal with level=shift"""


CARRIED = """\
loop `i` runs in order: read after write of `x`, distance +1: \
e.g. n=2: an iteration writes x[0] at i=0, a later one reads it at i=1"""


def test_texts():
    first = loop(n, write("a", i, span=("user.py", 12, 5, 9)))
    second = loop(n, read("a", i - 1, when=i > 0, span=("user.py", 14, 9, 15)), write("o", i))
    assert told(first, second) == NOT_FUSED
    assert told(first, second, level="shift") == "fused, run in order"
    assert told(first, loop(n, read("a", i))) == "fused on (i)"
    assert told(first, loop(n, read("b", i))).startswith("fused: neither loop")
    ahead = loop(n, read("a", i + 2))
    assert told(first, ahead, level="shift") == (
        "fused, run in order, the second loop later in i by 2"
    )
    modulo = told(loop(n, write("a", i % 8)), loop(n, read("a", i % 8)))
    assert modulo.endswith("; illegal iff n >= 9")
    both = told(loop(n, Effect("print")), loop(n, Effect("print")))
    assert both == (
        "not fused: order of printing: e.g. n=2: loop 1 prints at i=0, loop 2 prints at i=1"
    )


def test_texts_name_the_fact_that_is_missing():
    rows = table(9, i)
    text = told(loop(n, write("a", rows)), loop(n, read("a", rows)))
    assert "may write a[?]" in text
    assert "needs fw.assume_unique(b9)" in text


def test_one_load_written_twice_may_be_two_values():
    """if c[i] > 0: c[i] = 0; if c[i] <= 0: a[0] = ..."""
    c = table(9, i)
    change = write(9, i, when=c > 0)
    twice = replace(write("a", 0), guards=(c > 0, op("less_equal", c.expr, const(0, INT64))))
    assert order(loop(n, change, twice)).carries
    assert not compare(loop(n, change, twice), loop(n, read("a", 0))).parallel


def test_a_table_that_is_written_is_not_unique():
    unique = Facts(unique=frozenset({9}))
    a, b = loop(n, write(9, i), write("a", table(9, i))), loop(n, read("a", table(9, i)))
    assert not compare(a, b, unique).parallel


def test_texts_of_loops():
    scan = loop(n, read("x", i - 1, when=i > 0), write("x", i))
    assert describe_order(order(scan, NAMED), scan, NAMED) == CARRIED
    total = loop(n, update("s"))
    assert describe_order(order(total, NAMED), total, NAMED) == "loop `i` reduces `s` by add"

"""Random pairs of loop nests: what the analysis calls legal, brute force calls legal too."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import find, given
from hypothesis import strategies as st
from tests.properties.chance import examples
from tests.unit.analysis.nests import (
    NAMED,
    Carried,
    Effect,
    X,
    choose,
    dim,
    flag,
    i,
    j,
    k,
    least,
    m,
    most,
    n,
    nest,
    read,
    table,
    update,
    write,
)
from tests.unit.analysis.oracle import (
    Memory,
    Program,
    grouped,
    in_order,
    outcome,
    project,
    steps_in_order,
    value_of,
)

from fusewright.analysis.carried import order
from fusewright.analysis.pairs import compare
from fusewright.ir.dtypes import INT8, INT64, UINT8
from fusewright.ir.expr import const, op

CASES = examples(60)
PATIENT = replace(NAMED, budget=1_000_000, unique=frozenset({7}))
TABLES = {9: (2, 0, 1, 3, 2, 0, 1), 8: (1, 1, 0, 2, 3, 3, 0), 7: (4, 2, 6, 0, 1, 3, 5)}
SIZES = ((0, 2), (1, 3), (2, 2), (3, 1), (4, 3), (5, 2))
INDICES = {1: (i,), 2: (i, j)}
ONE = (
    lambda x, c: x + c,
    lambda x, c: x - c,
    lambda x, c: x * c,
    lambda x, c: c - x,
    lambda x, c: n - 1 - x,
    lambda x, c: x + n,
    lambda x, c: x // (c + 1),
    lambda x, c: x % (c + 2),
    lambda x, c: x & (2 * c + 1),
    lambda x, c: x | c,
    lambda x, c: x ^ c,
    lambda x, c: x >> 1,
    lambda x, c: x << c,
    lambda x, c: abs(x - c),
    lambda x, c: least(x, c),
    lambda x, c: most(x, c),
    lambda x, c: choose(x > c, x - 1, n),
    lambda x, c: (x * 85).to(UINT8).to(INT64),
    lambda x, c: X(op("add", (x * 50).to(INT8).expr, const(100, INT8))).to(INT64),
    lambda x, c: X(op("multiply", x.to(UINT8).expr, const(128, UINT8))).to(INT64),
    lambda x, c: x * x,
    lambda x, c: table(9, x % 7),
    lambda x, c: table(7, x % 7),
    lambda x, c: c - table(7, x % 7),
)
TWO = (
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: 2 * x + y,
    lambda x, y: x * 3 + y,
    lambda x, y: (x + y) // 2,
    lambda x, y: x * m + y,
    lambda x, y: choose(x > y, x, y),
)


@pytest.fixture(autouse=True, scope="module")
def evaluator():
    """Nothing is evaluated here: once is enough."""


@st.composite
def indices(draw, loops):
    """An index expression over these loops."""
    value = draw(st.sampled_from(loops))
    for _ in range(draw(st.integers(0, 2))):
        if len(loops) > 1 and draw(st.booleans()):
            value = draw(st.sampled_from(TWO))(value, draw(st.sampled_from(loops)))
        else:
            value = draw(st.sampled_from(ONE))(value, draw(st.integers(0, 3)))
    return value


@st.composite
def guards(draw, loops):
    value = draw(indices(loops))
    other = draw(st.one_of(st.integers(0, 3), indices(loops)))
    return draw(
        st.sampled_from((value > other, value < other, value.eq(other), (value % 2).eq(0),
                         flag(8, value % 7)))
    )  # fmt: skip


@st.composite
def accesses(draw, loops):
    """A read, write or update of one of two arrays."""
    inner = ()
    if draw(st.integers(0, 4)) == 0:
        inner = (dim(2, draw(st.sampled_from((2, m, loops[0] + 1, table(8, loops[0] % 7))))),)
        loops = (*loops, k)
    root, rank = draw(st.sampled_from((("a", 1), ("b", 2))))
    places = [draw(indices(loops)) for _ in range(rank)]
    more = {"inner": inner}
    if draw(st.integers(0, 3)) == 0:
        more["when"] = draw(guards(loops))
    make = draw(st.sampled_from((read, read, write, write, update)))
    if make is update:
        more |= {"op": draw(st.sampled_from(("add", "max"))), "exact": draw(st.booleans())}
        more["observed"] = draw(st.integers(0, 3)) == 0
    elif make is write and draw(st.integers(0, 4)) == 0:
        more["value"] = draw(st.sampled_from((7, i)))
    if root == "a" and draw(st.integers(0, 5)) == 0:
        more["width"] = draw(st.integers(2, 3))
        more.pop("value", None)
    return make(root, *places, **more)


@st.composite
def effects(draw, loops):
    """Something printed, drawn or raised."""
    kind = draw(st.sampled_from(("print", "rng", "trap", "opaque")))
    when = (draw(guards(loops)),) if draw(st.booleans()) else ()
    return Effect(kind, guards=when)


@st.composite
def nests(draw):
    """A nest of one or two loops with one to three accesses."""
    rank = draw(st.integers(1, 2))
    highs = ((n, 4, least(n, 3)), (m, n, 3, i + 1))
    lows = ((0, 0, 1), (0, 0, 1, i))
    dims = [
        dim(d, draw(st.sampled_from(highs[d])), draw(st.sampled_from(lows[d]))) for d in range(rank)
    ]
    parts = [draw(accesses(INDICES[rank])) for _ in range(draw(st.integers(1, 3)))]
    if draw(st.integers(0, 9)) == 0:
        parts.append(draw(effects(INDICES[rank])))
    if draw(st.integers(0, 9)) == 0:
        parts.append(Carried("kept", rank - 1, draw(st.sampled_from(("", "add"))), exact=True))
    return nest(dims, *parts)


def cases(*units):
    """The programs at several sizes, each with its memory."""
    for sizes in SIZES:
        params = dict(enumerate(sizes))
        programs = [Program(unit, params, "AB"[k]) for k, unit in enumerate(units)]
        yield params, Memory(TABLES), programs


@CASES
@given(nests(), nests())
def test_fused_on_the_proved_dims(first, second):
    verdict = compare(first, second, PATIENT)
    for _, memory, (a, b) in cases(first, second):
        if verdict.independent:
            back = [(b, p) for p in b.iterations(memory)] + [(a, p) for p in a.iterations(memory)]
            assert outcome(back, memory) == outcome(steps_in_order(a, b, memory), memory)
        if verdict.level in ("disjoint", "same", "dims"):
            assert in_order(a, b, verdict.fused, (0,) * len(verdict.fused), memory)
            assert any_order(a, b, verdict.fused, memory)


def any_order(a, b, pairs, memory):
    """Whether A's groups in order and each B group anywhere behind its own A group is right."""
    random = Random(1)
    first = grouped(a, [p for p, _ in pairs], memory)
    second = grouped(b, [q for _, q in pairs], memory)
    expected = outcome(steps_in_order(a, b, memory), memory)
    for _ in range(3):
        merged = [("a", key) for key in first]
        for key in second:
            start = merged.index(("a", key)) + 1 if key in first else 0
            done = [p for p, (side, _) in enumerate(merged) if side == "b"]
            start = max([start, *(p + 1 for p in done)])
            merged.insert(random.randint(start, len(merged)), ("b", key))
        groups = {"a": first, "b": second}
        steps = [step for side, key in merged for step in groups[side][key]]
        if outcome(steps, memory) != expected:
            return False
    return True


@CASES
@given(nests(), nests())
def test_fused_in_order_and_shifted(first, second):
    verdict = compare(first, second, PATIENT)
    for _, memory, (a, b) in cases(first, second):
        if verdict.in_order:
            assert in_order(a, b, verdict.matched, (0,) * len(verdict.matched), memory)
        if verdict.shift is not None:
            pairs = [p for p, s in zip(verdict.matched, verdict.shift, strict=True)
                     if s is not None]  # fmt: skip
            steps = [s for s in verdict.shift if s is not None]
            assert in_order(a, b, pairs, steps, memory)


@CASES
@given(nests(), nests())
def test_guards_and_witnesses(first, second):
    verdict = compare(first, second, PATIENT)
    conditions = [blocker.illegal for blocker in verdict.blockers]
    for params, memory, (a, b) in cases(first, second):
        known = [c for c in conditions if c is not None and c.holds is not None]
        told = len(known) == len(conditions) > 0 and not verdict.pinned
        if told and not any(value_of(c.holds, {}, params, memory) for c in known):
            assert in_order(a, b, verdict.matched, (0,) * len(verdict.matched), memory)
    for blocker in verdict.blockers:
        assert blocker.proved
        check_witness(blocker)


def check_witness(blocker):
    """The witness's two iterations meet in one cell, unless the indices hold unknown values."""
    witness = blocker.witness
    if not (blocker.source.indices and blocker.sink.indices):
        return
    params = {expr.attr: value for expr, value in witness.params if expr.name == "param"}
    if not witness.certain or len(params) < len(witness.params):
        return
    params = {0: 0, 1: 0, **params}
    spans = []
    for access, iteration in ((blocker.source, witness.source), (blocker.sink, witness.sink)):
        loops = {d.number: value for d, value in iteration}
        cell = [value_of(e, loops, params, Memory(TABLES)) for e in access.indices]
        spans.append((cell[:-1], set(range(cell[-1], cell[-1] + access.width))))
    assert spans[0][0] == spans[1][0]
    assert spans[0][1] & spans[1][1]


@CASES
@given(nests(), st.randoms(use_true_random=False))
def test_parallel_loops_run_in_any_order(unit, random):
    found = order(unit, PATIENT)
    exact = all(reduction.exact for reduction in found.reductions)
    for _, memory, (a,) in cases(unit):
        expected = outcome([(a, p) for p in a.iterations(memory)], memory)
        own = [d.number for d in unit.dims]
        for number in own:
            if number in found.parallel or (number in found.reduced and exact):
                steps = shuffled(a, own, own.index(number), memory, random)
                assert outcome(steps, memory) == expected
        if found.separable:
            groups = list(grouped(a, found.separable, memory).values())
            random.shuffle(groups)
            assert outcome([step for g in groups for step in g], memory) == expected


def shuffled(a, numbers, level, memory, random):
    """The iterations with one dim's order changed, a new one for each turn of the dims outside."""
    outer, keys = numbers[:level], {}
    points = a.iterations(memory)
    for point in points:
        keys[project(point, numbers[: level + 1])] = random.random()
    for point in points:
        point["at"] = (project(point, outer), keys[project(point, numbers[: level + 1])])
    ordered = sorted(points, key=lambda p: p["at"])
    return [(a, {d: v for d, v in p.items() if d != "at"}) for p in ordered]


def test_both_verdicts_occur():
    """The generator's programs are neither all legal nor all illegal."""
    pairs = st.tuples(nests(), nests())
    for level in ("disjoint", "same", "dims", "shift", None):
        assert find(pairs, lambda pair, level=level: compare(*pair).level == level)

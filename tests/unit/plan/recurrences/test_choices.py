"""Whatever is chosen, the values are the same; and they are those of other formulas."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.recurrence_cases import CASES, plain, precise

from fusewright.frontends.recurrences.demand import demanded
from fusewright.integrals.families import SCALARS, repulsion
from fusewright.ir.recurrences.graph import check_graph
from fusewright.ir.recurrences.interpret import exact, run
from fusewright.ir.recurrences.straight import flops
from fusewright.ir.recurrences.text import parse_straight, straight_text
from fusewright.ir.recurrences.verify import check_straight
from fusewright.plan.recurrences import choose, order
from fusewright.plan.recurrences.close import close
from fusewright.plan.recurrences.live import pressure
from fusewright.plan.recurrences.plan import plan
from fusewright.plan.recurrences.write import written

ROOT = Path(__file__).parents[4]
DIGITS = 60
NAMES = st.sampled_from(sorted(CASES))
SIZES = st.integers(1, 5)
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(NAMES, SIZES, SEEDS)
def test_any_choice_in_any_depth_first_order(name: str, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = CASES[name](size, rng)
    graph = case.graph()
    check_graph(graph)
    choice = [int(rng.integers(max(len(v.relations), 1))) for v in graph.vertices]
    closure = close(graph, choice, graph.targets, lambda v: graph.vertices[v].leaf is not None)
    operands = closure.operands()
    orders = [*order.starts(operands, {"": closure.targets}).values(), order.by_level(operands)]
    rows = {n: graph.leaves[v.leaf] for n, v in enumerate(graph.vertices) if v.leaf is not None}
    with mpmath.workdps(DIGITS):
        inputs = precise(case)
        expected = case.value(**inputs)
        scale = max(1, *map(abs, expected))
        for target, value in zip(case.targets, expected, strict=True):
            recursive = plain(case, target, inputs, lambda n: int(rng.integers(n)))
            assert abs(recursive - value) <= case.error * scale
        for each in orders:
            straight = written(closure, each, rows)
            check_straight(straight)  # the order is topological
            assert parse_straight(straight_text(straight)) == straight
            scalars, leaves = ([inputs[n] for n in names]
                               for names in (straight.scalars, straight.leaves))  # fmt: skip
            got = exact(straight, scalars, leaves, DIGITS)
            for a, b in zip(got, expected, strict=True):
                assert abs(a - b) <= max(case.error, 1e-15) * scale


@settings(max_examples=30, deadline=None)
@given(NAMES, SIZES, SEEDS)
def test_a_plan_in_float64(name: str, size: int, seed: int) -> None:
    case = CASES[name](size, np.random.default_rng(seed))
    straight = plan(case.graph(), effort=2000).outer.straight
    rows = {each: float(value) for each, value in case.inputs.items()}
    got = run(straight, [rows[n] for n in straight.scalars], [rows[n] for n in straight.leaves])
    with mpmath.workdps(DIGITS):
        inputs = {each: mpmath.mpf(value) for each, value in rows.items()}
        expected = [float(plain(case, target, inputs, lambda n: 0)) for target in case.targets]
    bound = 1e-13 * 4**size * max(1.0, *map(abs, rows.values())) ** (size + 1)
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["clenshaw", "hermite", "taylor", "multipoles", "mapped"]), SIZES, SEEDS)
def test_scalars_that_are_known_beforehand(name: str, size: int, seed: int) -> None:
    """Some are numbers, and what is multiplied by those that are 0 is left out."""
    rng = np.random.default_rng(seed)
    case = CASES[name](size, rng)
    fixed = {s: float(rng.choice([0.0, 0.0, 1.0, -0.5])) for s in case.scalars if rng.integers(2)}
    scalars = {**dict.fromkeys(case.scalars), **fixed}
    straight = plan(demanded(case.targets, case.families, scalars), 500, seed).outer.straight
    assert not set(straight.scalars) & set(fixed)
    with mpmath.workdps(DIGITS):
        inputs = {**precise(case), **{s: mpmath.mpf(x) for s, x in fixed.items()}}
        expected = case.value(**inputs)
        rows = ([inputs[n] for n in names] for names in (straight.scalars, straight.leaves))
        got = exact(straight, *rows, DIGITS)
        scale = max(1, *map(abs, expected))
        for a, b in zip(got, expected, strict=True):
            assert abs(a - b) <= 1e-14 * scale


def test_the_same_plan_for_the_same_seed_and_other_ones_for_others() -> None:
    graph = CASES["multipoles"](4, np.random.default_rng(1)).graph()
    again = CASES["multipoles"](4, np.random.default_rng(1)).graph()
    seeded = ((graph, 5), (again, 5), (graph, 6))
    texts = [straight_text(plan(each, 20000, seed).outer.straight) for each, seed in seeded]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("name", sorted(CASES))
def test_counts_and_costs(name: str) -> None:
    """The planner's flops are those of the list, and more effort is never worse."""
    graph = CASES[name](4, np.random.default_rng(2)).graph()
    costs = []
    for effort in (0, 5000, 20000):
        found = plan(graph, effort).outer
        products = sum(
            len(s) == 1 and s[0].coefficient is not None and s[0].value is not None
            and max(s[0].operands) < len(found.straight.scalars)
            for s in found.straight.statements
        )  # fmt: skip
        assert flops(found.straight) - products <= found.chosen.flops <= flops(found.straight)
        costs.append(found.pressure.peak)
    assert costs == sorted(costs, reverse=True)


def test_fewest_new_values_needs_no_more_than_the_first_alternatives() -> None:
    graph = CASES["multipoles"](5, np.random.default_rng(2)).graph()

    def is_leaf(v: int) -> bool:
        return graph.vertices[v].leaf is not None

    sizes = {
        name: len(close(graph, choice, graph.targets, is_leaf).terms)
        for name, choice in choose.rules(graph, graph.targets, is_leaf)
    }
    assert sizes["fewest new values"] <= sizes["first alternative"]
    assert len(set(sizes.values())) > 1


@pytest.mark.parametrize(
    ("name", "size"),
    [("clenshaw", 8), ("hermite", 4), ("legendre", 5), ("wigner", 3), ("taylor", 5), ("mapped", 6),
     ("multipoles", 1), ("multipoles", 2)],
)  # fmt: skip
def test_the_order_against_the_best_there_is(name: str, size: int) -> None:
    """For the statements that are chosen, a search ends within a fifth of the least peak."""
    found = plan(CASES[name](size, np.random.default_rng(6)).graph(), effort=20_000).outer
    operands = found.chosen.closure.operands()
    assert 5 <= len(operands) <= 60
    best = order.least_peak(operands)
    assert best is not None
    least = pressure(best, operands).peak
    assert least <= found.pressure.peak <= 1.2 * least


@pytest.mark.parametrize("harmonics", [False, True])
@pytest.mark.parametrize("letters", ["psps", "ppss", "dsss", "dsps", "fsss"])
def test_orders_of_small_classes_against_the_best_there_is(letters: str, harmonics: bool) -> None:
    """Up to 54 statements."""
    family = repulsion(*map("spdf".index, letters), harmonics, contracted=False)
    found = plan(demanded(family.targets, family.families, SCALARS), effort=20_000).outer
    operands = found.chosen.closure.operands()
    best = order.least_peak(operands)
    assert best is not None
    least = pressure(best, operands).peak
    assert least <= found.pressure.peak <= 1.2 * least


PROGRAM = """
import numpy as np
from tests.unit.recurrence_cases import CASES
from fusewright.ir.recurrences.text import straight_text
from fusewright.plan.recurrences.plan import plan
graph = CASES["multipoles"](3, np.random.default_rng(1)).graph()
print(straight_text(plan(graph, 5000, 1).outer.straight))
"""


def test_the_same_plan_in_every_process() -> None:
    """No choice depends on the order of a set of texts."""
    texts = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        texts.add(done.stdout)
    assert len(texts) == 1 and "results" in texts.pop()

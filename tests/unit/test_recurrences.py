"""`fw.recurrence` as a user has it: values, plans, both targets."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.recurrence_cases import CASES

import fusewright as fw
from fusewright.ir.recurrences.text import straight_text


def chebyshev(n: int) -> Any:
    return [[((2, "x"), "T", n - 1), (-1, "T", n - 2)]]


FAMILY = fw.Family("T", "n", chebyshev, leaf=lambda n: (1.0, "t1")[n] if n < 2 else None)


def test_values_and_rows_by_name_or_in_order() -> None:
    graph = fw.recurrence([(FAMILY, n) for n in (5, 0, 7, 5, 1)], [FAMILY], ["x"])
    assert (graph.scalars, graph.leaves) == (("x",), ("t1",))
    compiled = graph.compile()
    x = np.linspace(-1, 1, 1001)
    got = compiled([x], [x])
    np.testing.assert_allclose(got, np.cos(np.outer((5, 0, 7, 5, 1), np.arccos(x))), atol=1e-13)
    np.testing.assert_array_equal(got, compiled({"x": x}, {"t1": x}))
    assert compiled([0.5], [0.5]).shape == (5,)
    assert compiled([x[:0]], [x[:0]]).shape == (5, 0)
    np.testing.assert_array_equal(
        compiled([x.astype(np.float32)], [1]), compiled([np.float32(x)], [1.0])
    )


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(CASES)), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_machine_code_has_the_interpreters_bits(name: str, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = CASES[name](size, rng)
    graph = fw.recurrence(case.targets, case.families, case.scalars)
    columns = int(rng.integers(1, 40))
    rows = {each: rng.standard_normal(columns) for each in (*graph.scalars, *graph.leaves)}
    found = []
    for target, lanes in (("reference", 8), ("cpu", "auto"), ("cpu", 4)):
        with fw.options(target=target):
            compiled = graph.compile(lanes, effort=1000, seed=seed)
        found.append(
            compiled({n: rows[n] for n in graph.scalars}, {n: rows[n] for n in graph.leaves})
        )
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


COEFFICIENTS = st.one_of(
    st.sampled_from([1, -1, 0, 2, 0.1, "x", "y"]),
    st.tuples(st.sampled_from([-3, 0.7]), st.sampled_from(["x", "y"])),
    st.just(("x", "y")),
)


@st.composite
def random_families(draw: Any, most: int = 9) -> tuple[list[fw.Family], list[tuple[str, int]]]:
    """Two families of random relations between values of lower indices, and some targets."""
    letters = ("P", "Q")
    relations: dict[tuple[str, int], Any] = {}
    leaves: dict[tuple[str, int], Any] = {}
    for n in range(most):
        for letter in letters:
            if n < 2 or draw(st.integers(0, 5)) == 0:
                leaves[letter, n] = draw(st.sampled_from([f"{letter}{n}", 1.0, 0.3]))
                continue
            lower = st.tuples(COEFFICIENTS, st.sampled_from(letters), st.integers(0, n - 1))
            alternative = st.lists(lower, min_size=1, max_size=4)
            relations[letter, n] = draw(st.lists(alternative, min_size=1, max_size=3))

    def family(letter: str) -> fw.Family:
        return fw.Family(
            letter, "n", lambda n: relations[letter, n], lambda n: leaves.get((letter, n))
        )

    given = st.tuples(st.sampled_from(letters), st.integers(0, most - 1))
    return [family(letter) for letter in letters], draw(st.lists(given, min_size=1, max_size=4))


@settings(max_examples=40, deadline=None)
@given(random_families(), st.integers(0, 2**32 - 1))
def test_random_families_have_the_interpreters_bits(made: Any, seed: int) -> None:
    """Their alternatives are not equal to one another: one seed is one choice on every target."""
    families, targets = made
    graph = fw.recurrence(targets, families, ["x", "y"])
    rng = np.random.default_rng(seed)
    rows = {each: rng.standard_normal(11) for each in (*graph.scalars, *graph.leaves)}
    found = []
    for target, lanes in (("reference", 8), ("cpu", "auto"), ("cpu", 4)):
        with fw.options(target=target):
            compiled = graph.compile(lanes, effort=500, seed=seed)
        scalars, leaves = ({n: rows[n] for n in names} for names in (graph.scalars, graph.leaves))
        found.append(np.broadcast_to(compiled(scalars, leaves), (len(targets), 11)))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def test_a_sum_along_an_axis() -> None:
    """Moments of weighted points about a centre, and from them those about another."""

    def about(k: int) -> Any:
        return [[("d", "P", k - 1)]]

    def moved(k: int, n: int) -> Any:
        return [[(1, "M", (k + 1, n - 1)), ("h", "M", (k, n - 1))]] if n else [[(1, "S", k)]]

    families = [
        fw.Family("P", "k", about, leaf=lambda k: "weight" if k == 0 else None),
        fw.Accumulate("S", "P", over="points"),
        fw.Family("M", ["k", "n"], moved),
    ]
    graph = fw.recurrence([("M", (0, n)) for n in range(4)], families, ["d", "h"])
    rng = np.random.default_rng(4)
    d, weight, h = rng.standard_normal((9, 5)), rng.standard_normal((9, 1)), rng.standard_normal(5)
    found = []
    for target in ("cpu", "reference"):
        with fw.options(target=target):
            found.append(graph.compile()({"d": d, "h": h}, {"weight": weight}))
    assert found[0].tobytes() == found[1].tobytes()
    expected = [(weight * (d + h) ** n).sum(0) for n in range(4)]
    np.testing.assert_allclose(found[0], expected, atol=1e-13)
    text = str(graph.explain())
    assert "at each of points: 3 statements" in text and "after the sum over points" in text


def test_targets_that_are_sums_or_leaves_themselves() -> None:
    families = [
        fw.Family("P", "k", lambda k: [[("d", "P", k - 1)]], lambda k: None if k else "w"),
        fw.Accumulate("S", "P", "points"),
    ]
    graph = fw.recurrence([("S", 0), ("S", 2), ("S", 0)], families, ["d"])
    d, w = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0], [7.0]])
    for target in ("cpu", "reference"):
        with fw.options(target=target):
            got = graph.compile()([d], [w])
        np.testing.assert_array_equal(got, [[12.0, 12.0], [68.0, 132.0], [12.0, 12.0]])
    only = fw.recurrence([("P", 0)], families[0], ())
    assert only.compile()((), [3.0]).tolist() == [3.0]


def test_scalars_that_are_known_and_terms_that_vanish() -> None:
    """A scalar of 0 removes what is multiplied by it, and what only that needs."""
    calls: list[int] = []

    def relation(n: int) -> Any:
        calls.append(n)
        return [[("x", "T", n - 1), ("zero", "U", n)]]

    unused = fw.Family("U", "n", lambda n: pytest.fail("not asked for"))
    family = fw.Family("T", "n", relation, leaf=lambda n: "t" if n == 0 else None)
    graph = fw.recurrence([(family, 3)], [family, unused], {"x": None, "zero": 0.0})
    assert graph.scalars == ("x",) and calls == [3, 2, 1]
    doubled = fw.recurrence([(family, 3)], [family, unused], {"x": 2.0, "zero": 0})
    assert doubled.scalars == ()
    compiled = doubled.compile()
    assert (
        straight_text(compiled.plan.phases.outer) == "scalars\nleaves t\nt0 = 8.0*x0\nresults t0\n"
    )
    np.testing.assert_array_equal(compiled((), [[1.0, 2.0]]), [[8.0, 16.0]])


def test_numbers_fold_and_equal_values_are_computed_once() -> None:
    def relation(name: str) -> Any:
        return {
            "twice": [[(2, "V", "sum")]],
            "sum": [[("x", "V", "leaf"), (1, "V", "three")]],
            "again": [[(1.0, "V", "three"), ("x", "V", "leaf")]],
            "user": [[("x", "V", "twice"), (0.5, "V", "twice"), (1, "V", "again")]],
            "gone": [[(1, "V", "leaf"), (-1, "V", "leaf")]],
        }[name]

    family = fw.Family("V", "name", relation, leaf=lambda n: {"leaf": "f", "three": 3.0}.get(n))
    graph = fw.recurrence([("V", n) for n in ("user", "twice", "gone", "three")], [family], "x")
    compiled = graph.compile()
    assert straight_text(compiled.plan.phases.outer) == (
        "scalars x\nleaves f\n"
        "t0 = 3.0 + s0*x0\n"
        "t1 = 2.0*t0\n"
        "t2 = 2.0*s0*t0 + 2.0*t0\n"
        "t3 = 3.0\n"
        "t4 = 0.0\n"
        "results t2 t1 t4 t3\n"
    )
    np.testing.assert_array_equal(compiled([2.0], [5.0]), [26 + 52, 26, 0, 3])


def test_products_of_scalars_are_computed_once() -> None:
    def relation(n: int) -> Any:
        return [[((3, "b", "a", "b"), "T", n - 1), (("a", "b"), "T", n - 1)]]

    family = fw.Family("T", "n", relation, leaf=lambda n: "t" if n == 0 else None)
    compiled = fw.recurrence([(family, 2)], [family], ["a", "b"]).compile()
    text = straight_text(compiled.plan.phases.outer)
    assert text.splitlines()[2:6] == [
        "t0 = s0*s1", "t1 = t0*s1", "t2 = 3.0*t1*x0 + t0*x0", "t3 = 3.0*t1*t2 + t0*t2",
    ]  # fmt: skip
    assert compiled([2.0, 3.0], [1.0])[0] == (3 * 18 + 6) ** 2


def test_what_explain_says() -> None:
    case = CASES["multipoles"](4, np.random.default_rng(0))
    graph = fw.recurrence(case.targets, case.families, case.scalars)
    report = graph.explain()
    (only,) = report.lists
    assert only.peak <= only.by_level[0] and only.choices > 0
    text = str(report)
    assert text.startswith("45 targets of 55 leaves: ")
    for words in (
        "live at once: at most",
        "relations: ",
        "order: ",
        "rules were tried, with peaks of ",
        "kept in ",
    ):
        assert words in text, text
    with fw.options(target="reference"):
        assert "runs on reference" in str(graph.explain(lanes=4))
    assert graph.compile().explain() == report


def test_a_place_for_linear_maps_is_chosen_and_said() -> None:
    case = CASES["mapped"](6, np.random.default_rng(0))
    report = fw.recurrence(case.targets, case.families, case.scalars).explain()
    assert report.lists[0].placement == "same"  # mapped first: 3 rows go on instead of 7
    assert "linear maps: same (peaks before the search: late " in str(report)


def test_graphs_can_be_pickled_and_long_chains_are_no_deep_recursion() -> None:
    family = fw.Family("T", "n", lambda n: [[("x", "T", n - 1)]], lambda n: "t" if n == 0 else None)
    graph = fw.recurrence([(family, 5000)], [family], "x")
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    with fw.options(target="reference"):
        assert again.compile(effort=0)([1.0], [3.0]).tolist() == [3.0]


def test_no_targets() -> None:
    compiled = fw.recurrence([], [FAMILY], "x").compile()
    assert compiled([1.0], ()).shape == (0,)


def test_what_is_compiled_can_be_pickled_and_copied() -> None:
    """Another process compiles the same way: equal bits."""
    compiled = fw.recurrence([(FAMILY, 9)], [FAMILY], ["x"]).compile(lanes=4, effort=10, seed=3)
    x = np.linspace(-1, 1, 7)
    for again in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
        assert again.how == (4, 10, 3)
        np.testing.assert_array_equal(again([x], [x]), compiled([x], [x]))


def test_large_graphs_have_a_short_text() -> None:
    graph = fw.recurrence([(FAMILY, 900)], [FAMILY], ["x"])
    assert repr(graph) == "<recurrence: 1 target, 901 values>"
    assert repr(graph.compile(effort=0)) == "<recurrence: 1 target, 901 values, compiled>"

"""Graphs of recurrences: what is well formed; plans in two phases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fusewright.base.errors import InternalError
from fusewright.ir.recurrences.graph import AndOrGraph, Vertex, Weighted, check_graph
from fusewright.ir.recurrences.phases import Phases, run_phases
from fusewright.ir.recurrences.text import parse_straight

LEAF = Vertex("F", (0,), leaf=0)
STEP = Vertex(
    "V", ((1, 0, 2), 12), relations=((Weighted(2.0, (0, 0), 0), Weighted(3.0, (), None)),)
)
GRAPH = AndOrGraph(("a",), ("F0",), (LEAF, STEP), (1, 1))
SUMMED = Vertex("S", (), relations=((Weighted(1.0, (), 1),),), summed=True)


def test_a_graph_is_well_formed() -> None:
    check_graph(GRAPH)
    assert str(STEP) == "V[102, 12]"
    check_graph(AndOrGraph(("a",), ("F0",), (LEAF, STEP, SUMMED), (2,), axis="pairs"))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (replace(STEP, leaf=0), "neither a leaf nor a combination"),
        (replace(STEP, relations=()), "neither a leaf"),
        (replace(STEP, relations=((Weighted(1.0, (), 1),),)), "reads vertex 1"),
        (replace(STEP, relations=((Weighted(1.0, (1,), 0),),)), "what is no scalar"),
        (replace(STEP, summed=True), "is summed, but not as one value"),
        (Vertex("F", (1,), leaf=1), "a leaf without a name"),
    ],
)
def test_what_is_not_well_formed(changed: Vertex, words: str) -> None:
    with pytest.raises(InternalError, match=words):
        check_graph(replace(GRAPH, vertices=(LEAF, changed)))


def test_targets_and_the_order_of_scalars() -> None:
    with pytest.raises(InternalError, match="no vertex"):
        check_graph(replace(GRAPH, targets=(2,)))
    out_of_order = replace(STEP, relations=((Weighted(1.0, (1, 0), 0),),))
    with pytest.raises(InternalError, match="out of order"):
        check_graph(replace(GRAPH, scalars=("a", "b"), vertices=(LEAF, out_of_order)))


def test_the_sum_between_two_phases() -> None:
    inner = parse_straight("scalars a\nleaves F0\nt0 = s0*x0\nresults t0 x0\n")
    outer = parse_straight("scalars b\nleaves sum:0 sum:1\nt0 = s0*x0 + x1\nresults t0\n")
    a, f = np.array([[1.0], [2.0], [4.0]]), np.arange(6.0).reshape(3, 2)
    got = run_phases(Phases(outer, inner, "pairs"), {"a": a, "b": 10.0}, {"F0": f})
    np.testing.assert_array_equal(got, [[10 * 20.0 + 6, 10 * 27.0 + 9]])

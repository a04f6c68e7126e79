"""Each piece of the language of kernels, against CPython."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import loop_kernels as loops
from tests.unit.kernels import value_kernels as vals
from tests.unit.kernels import walk_kernels as walks
from tests.unit.kernels.data import Numbers

numbers = Numbers(7)
reals, whole = numbers.reals, numbers.whole


class Half(float):
    """A number, as enumerations' members are."""


CASES = {
    "axpy": (loops.axpy, 2.0, reals(19), reals(19)),
    "axpy of float32": (loops.axpy, 2.0, reals(37, dtype=np.float32), reals(37, dtype=np.float32)),
    "axpy of float16": (loops.axpy, 2.0, reals(9, dtype=np.float16), reals(9, dtype=np.float16)),
    "axpy of ints": (loops.axpy, 2, whole(21), whole(21)),
    "axpy of strided": (loops.axpy, 0.5, reals(40)[::2], reals(60)[::-3]),
    "axpy in place of empty": (loops.axpy, 2.0, reals(0), reals(0)),
    "ranges": (loops.ranges, whole(4), 9),
    "dynamic step": (loops.dynamic_step, whole(20), 2, 17, 3),
    "dynamic step down": (loops.dynamic_step, whole(20), 20, 2, -4),
    "nest": (loops.nest, whole(5, 7)),
    "nest by axes": (loops.nest_by_axes, whole(2, 3, 3), (1,)),
    "grouped": (loops.grouped, reals(3, 11), reals(3, 11)),
    "loop variable after": (loops.loop_variable_after, whole(5), 5),
    "loop variable after none": (loops.loop_variable_after, whole(5), 0),
    "loop variable changed": (loops.loop_variable_changed, whole(5), 4),
    "whiles": (loops.whiles, whole(1), 27),
    "leaving": (loops.leaving, reals(9), np.abs(reals(6)), 0.8),
    "endless": (loops.endless, whole(2)),
    "triangle": (loops.triangle, whole(6, 6)),
    "static loops": (loops.static_loops, whole(5), 4, True),
    "static loops 2": (loops.static_loops, whole(5), 3, False),
    "bound read once": (loops.bound_read_once, np.array([4, 0, 0, 0, 0])),
    "swap": (loops.swap, whole(12), 12),
    "branches": (vals.branches, reals(11) * 2, whole(11)),
    "chained": (vals.chained, reals(9), np.zeros(9, bool)),
    "conditional": (vals.conditional, reals(13), reals(13)),
    "short circuit": (vals.short_circuit, reals(5), whole(9), 9),
    "reductions": (vals.reductions, reals(9)),
    "into zero dim": (vals.into_zero_dim, reals(9), np.array(1.5)),
    "scan": (vals.scan, reals(33)),
    "negative": (vals.negative, whole(6)),
    "gather": (vals.gather, reals(6), np.array([5, -1, 2, 2, -6]), reals(6)),
    "gather by unsigned": (vals.gather, reals(6), np.array([5, 1, 2], np.uint8), reals(6)),
    "rows": (vals.rows, reals(4, 5), reals(4, 5)),
    "division of int64": (vals.python_division, whole(40), whole(40, low=1), whole(40), whole(40)),
    "division of int8": (
        vals.python_division, whole(40, dtype=np.int8), whole(40, dtype=np.int8),
        whole(40), whole(40),
    ),
    "division of uint32": (
        vals.python_division, whole(40, dtype=np.uint32, low=0), whole(40, dtype=np.uint32, low=1),
        whole(40), whole(40),
    ),
    "python numbers": (vals.python_numbers, whole(70), 6, 6),
    "float operators": (vals.float_operators, reals(40) * 9, reals(40) * 2 + 9, reals(40, 7)),
    "functions": (vals.functions, reals(30) * 3, reals(30, 8)),
    "numpy types": (vals.numpy_types, reals(20), reals(20)),
    "captured": (vals.captured, reals(3)),
    "inlined": (vals.inlined, reals(9), reals(9)),
    "atomics": (vals.atomics, whole(5), whole(12, low=0, high=5), whole(12)),
    "printing": (vals.printing, reals(3), 4),
    "printing float32": (vals.printing, reals(3, dtype=np.float32), True),
    "randoms": (vals.randoms, reals(4, 9), 42),
    "locals": (vals.locals_, reals(9), reals(9)),
    "vectors": (vals.vectors, reals(4, 3), reals(4, 3), 0.25),
    "structs": (vals.structs, vals.World(vals.State(reals(7), reals(7), 0.5), 3)),
    "tuples": (vals.tuples, (reals(9), reals(9)), (1, 6)),
    "no default": (vals.none_default, reals(5), reals(5)),
    "default": (vals.none_default, reals(5)),
    "promotions": (
        vals.promotions, reals(9, dtype=np.float32), whole(9, dtype=np.int32),
        whole(9, dtype=np.uint8, low=0), reals(9), reals(9, 6),
    ),
    "literals adapt": (vals.literals_adapt, reals(9, dtype=np.float32), reals(9)),
    "literals adapt to ints": (vals.literals_adapt, whole(9, dtype=np.int16), reals(9)),
    "logical": (vals.logical, whole(9, low=-1, high=2), whole(9, low=-1, high=2)),
    "tuples keep their values": (vals.tuples_keep_their_values, reals(5), 4),
    "unrolled exits": (loops.unrolled_exits, reals(9), 2),
    "vectors in branches": (vals.vectors_in_branches, reals(9), reals(9)),
    "calls a kernel": (loops.calls_a_kernel, reals(9)),
    "attributes": (vals.attributes, reals(3, 4), reals(2)),
    "an enumeration": (walks.enumerated, reals(9), walks.Mode.SECOND, Half(0.5)),
    "another of it": (walks.enumerated, reals(9), walks.Mode.FIRST, True),
    "a named tuple": (walks.named_tuple, reals(9), walks.Point(2.5, whole(9))),
    "side by side": (walks.side_by_side, whole(20), whole(15), whole(30)),
    "side by side of none": (walks.side_by_side, whole(0), whole(15), whole(30)),
    "backwards": (walks.backwards, whole(30), 4),
    "backwards down": (walks.backwards, whole(30), -3),
    "over rows": (walks.over_rows, reals(6, 7), reals(7), reals(6)),
    "over strided rows": (walks.over_rows, reals(7, 12).T[::2], reals(9), reals(6)),
    "changed meanwhile": (walks.changed_meanwhile, whole(30)),
    "written out": (walks.written_out, whole(30), whole(30)),
    "until found": (walks.until_found, whole(30), whole(30)),
    "out of two loops": (walks.out_of_two_loops, np.arange(-9, 31).reshape(8, 5), whole(3)),
    "out of no loop": (walks.out_of_two_loops, np.arange(-20, 0).reshape(4, 5), whole(3)),
    "leaves in else": (walks.leaves_in_else, whole(30), whole(3), 1000),
    "leaves by break": (walks.leaves_in_else, np.arange(30), whole(3), 12),
    "among": (walks.among, whole(30), np.zeros(30, bool)),
    "truths": (walks.truths, whole(30), whole(30)),
    "fills": (walks.fills, reals(8, 9), reals(8, 9), whole(8)),
    "fills read first": (walks.fills_read_first, reals(30), 3),
    "made inside": (walks.made_inside, reals(10)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_same_as_cpython(name: str) -> None:
    kernel, *arguments = CASES[name]
    same_as_cpython(kernel, *arguments)


def test_a_literal_that_has_adapted_keeps_the_type() -> None:
    total, least, _ = vals.reductions(reals(0))
    assert (total, least) == (0, math.inf)
    assert type(total) is np.float64  # CPython has the literal itself: 0


def test_method() -> None:
    found, wanted = vals.Solver(), vals.Solver()
    found.step(4)
    vals.Solver.step.__wrapped__(wanted, 4)
    assert found.u.tolist() == wanted.u.tolist()
    found.dt = 0.25  # an attribute is an argument
    wanted.dt = 0.25
    found.step(5)
    vals.Solver.step.__wrapped__(wanted, 5)
    assert found.u.tolist() == wanted.u.tolist()


def test_gamma_functions_and_their_poles():
    x = np.array([0.1, 1.0, 2.0, 3.5, 30.25, -0.5, -7.75])
    found, wanted = np.zeros((7, 2)), np.zeros((7, 2))
    vals.gammas(x, found)
    vals.gammas.__wrapped__(x, wanted)
    np.testing.assert_array_max_ulp(found, wanted, maxulp=8)
    poles = np.zeros((4, 2))
    vals.gammas(np.array([0.0, -3.0, 172.0, -np.inf]), poles)
    np.testing.assert_array_equal(poles[:, 0], [np.inf, np.nan, np.inf, np.nan])
    np.testing.assert_array_equal(poles[[0, 1, 3], 1], np.inf)

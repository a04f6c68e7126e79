"""`fw.jit`: a replay does what the call would have done; what cannot be replayed is run anew."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
from tests.unit.replay.calls import array, counting

import fusewright as fw
import fusewright.numpy as np
from fusewright.runtime.profile import listen

Pair = namedtuple("Pair", "left right")


def test_python_code_runs_once_for_each_structure() -> None:
    f, runs = counting(lambda a, b: np.sqrt(a * a + b * b))
    for _ in range(3):
        assert f(array(3.0, 6.0), array(4.0, 8.0)).tolist() == [5.0, 10.0]
    assert runs == [1]
    f(array(3.0), array(4.0))
    assert runs == [2]
    f(array(3.0).astype("float32"), array(4.0))
    assert runs == [3]
    assert f(array(6.0, 3.0), array(8.0, 4.0)).tolist() == [10.0, 5.0]
    assert runs == [3]


def test_a_replay_is_one_evaluation_of_the_same_kernels() -> None:
    f = fw.jit(lambda a: np.exp(a - a.max()).sum())
    f(array(1.0, 2.0))
    with listen() as profile:
        f(array(3.0, 4.0))
    assert [flush.trigger for flush in profile.flushes] == ["fw.jit"]
    assert all(kernel.origin == "memory" for kernel in profile.kernels)


def test_an_extent_used_as_a_number_is_the_new_extent() -> None:
    f = fw.jit(lambda a: a.mean() + a.shape[0])
    assert float(f(array(1.0, 3.0))) == 4.0
    assert float(f(array(1.0, 2.0, 3.0))) == 5.0
    assert float(f(array(5.0, 7.0))) == 8.0


def test_floats_are_run_time_parameters() -> None:
    f, runs = counting(lambda a, dt: a + 0.5 * dt * a - a / dt)
    a = numpy.array([1.0, 2.5])
    for dt in (0.1, 0.25, -3.0, 1e300, float("inf")):
        assert f(fw.asarray(a), dt).tolist() == (a + 0.5 * dt * a - a / dt).tolist()
    assert runs == [1]


def test_a_float_keeps_the_array_type() -> None:
    f = fw.jit(lambda a, s: a * s)
    for s in (2.0, 3.0):
        assert f(array(1.0).astype("float32"), s).dtype == "float32"


def test_a_float_the_code_looks_at_is_part_of_the_key() -> None:
    f, runs = counting(lambda a, s: a * 2 if s > 1.0 else a * s)
    assert [f(array(1.0), s).tolist()[0] for s in (0.5, 2.0, 0.5, 2.0)] == [0.5, 2.0, 0.5, 2.0]
    assert runs == [2]


def test_the_sign_of_zero_is_part_of_the_value() -> None:
    f = fw.jit(lambda a, s: a * float(str(s)))
    assert [numpy.signbit(f(array(1.0), s).tolist()[0]) for s in (0.0, -0.0)] == [False, True]


@pytest.mark.parametrize("exponent", [2.0, 3.0, 0.5, 1.7, 2.0])
def test_powers_have_the_plain_bits(exponent: float) -> None:
    f = fw.jit(lambda a, p: a**p)
    f(array(1.1, 2.3), 1.3)
    assert f(array(1.1, 2.3), exponent).tolist() == (array(1.1, 2.3) ** exponent).tolist()


def test_functions_that_look_at_a_float() -> None:
    import math

    f = fw.jit(lambda a, s: a * math.sin(s) + np.full(2, s) + abs(s) + round(s, 1) + s**2 + s % 3)
    for s in (0.7, 1.9, 0.7):
        a = numpy.array([1.0, 2.0])
        wanted = a * math.sin(s) + numpy.full(2, s) + abs(s) + round(s, 1) + s**2 + s % 3
        assert f(fw.asarray(a), s).tolist() == wanted.tolist()


def test_a_float_is_a_float_for_the_code() -> None:
    seen: list[bool] = []
    f = fw.jit(lambda a, s: (seen.append(isinstance(s, float)), a * s)[1])
    f(array(1.0), 2.0)
    assert seen == [True]


def test_floats_come_back_as_floats() -> None:
    f = fw.jit(lambda a, s: (a * s, s, {"half": s / 2}))
    for s in (2.0, 4.0):
        value, same, halves = f(array(1.0), s)
        assert (value.tolist(), same, halves) == ([s], s, {"half": s / 2})
        assert type(same) is float and type(halves["half"]) is float


def test_division_by_a_float_argument_that_is_zero() -> None:
    f = fw.jit(lambda a, s: a * (1.0 / s))
    f(array(1.0), 2.0)
    with pytest.raises(ZeroDivisionError):
        f(array(1.0), 0.0)
    assert f(array(1.0), 4.0).tolist() == [0.25]


def test_integers_are_part_of_the_key() -> None:
    f, runs = counting(lambda a, n: sum([a] * n, a * 0))
    assert [f(array(1.0), n).tolist() for n in (2, 3, 2)] == [[2.0], [3.0], [2.0]]
    assert runs == [2]
    assert f(array(1.0), True).tolist() == [1.0]


def test_trees_of_arguments_and_results() -> None:
    @dataclass
    class State:
        u: Any
        v: Any

    f, runs = counting(
        lambda pair, named, state: (
            Pair(pair[0] + named["x"], pair.right),
            [state.u * 2],
            {"state": State(state.v, state.u + 1)},
        )
    )
    for start in (0.0, 10.0):
        a, b = array(start), array(start + 1)
        pair, (double,), rest = f(Pair(a, b), {"x": b}, State(a, b))
        assert pair.left.tolist() == [2 * start + 1] and pair.right is b
        assert double.tolist() == [2 * start]
        assert rest["state"].u is b and rest["state"].v.tolist() == [start + 1]
    assert runs == [1]


def test_updates_in_place_reach_the_arguments() -> None:
    def step(x: Any, dt: float) -> None:
        x[1:-1] += dt * (x[2:] - x[:-2])
        x *= 2

    f, runs = counting(step)
    ours, theirs = array(*map(float, range(8))), numpy.arange(8.0)
    for dt in (0.1, 0.2, 0.3):
        assert f(ours, dt) is None
        step(theirs, dt)
        assert ours.tolist() == theirs.tolist()
    assert runs == [1]


def test_an_update_through_a_view_reaches_the_whole() -> None:
    f, runs = counting(lambda part: part.__iadd__(1))
    whole = array(1.0, 2.0, 3.0, 4.0)
    for _ in range(3):
        assert f(whole[1:3]).tolist() == whole[1:3].tolist()
    assert whole.tolist() == [1.0, 5.0, 6.0, 4.0] and runs == [1]


def test_the_same_array_twice() -> None:
    def f(x: Any, y: Any) -> Any:
        x += 1
        return x * y

    g, runs = counting(f)
    for _ in range(2):
        a, b = array(1.0), array(1.0)
        assert g(a, b).tolist() == [2.0] and g(a, a).tolist() == [9.0]
        assert (a.tolist(), b.tolist()) == ([3.0], [1.0])
    assert runs == [2]


def test_a_copy_is_its_own_array() -> None:
    def f(x: Any) -> Any:
        before = x.copy()
        x += 1
        return before

    g = fw.jit(f)
    for _ in range(3):
        a = array(1.0)
        old = g(a)
        assert (old.tolist(), a.tolist()) == ([1.0], [2.0])
        old += 5
        assert a.tolist() == [2.0]


def test_results_that_look_into_each_other_still_do() -> None:
    f = fw.jit(lambda x: (lambda y: (y, y[1:]))(x * 2))
    for _ in range(3):
        whole, tail = f(array(1.0, 2.0))
        tail[0] = 9
        assert whole.tolist() == [2.0, 9.0]


def test_a_result_may_be_a_view_of_an_argument() -> None:
    f = fw.jit(lambda x: x[1:])
    for _ in range(3):
        a = array(1.0, 2.0)
        f(a)[0] = 9
        assert a.tolist() == [1.0, 9.0]


def test_numpy_arguments_are_read_and_not_kept() -> None:
    f, runs = counting(lambda x: (x * 2, x, x[1:]))
    for number in range(3):
        source = numpy.array([1.0, 2.0]) + number
        wanted = source.copy()
        double, same, tail = f(source)
        source[:] = -1
        assert double.tolist() == (wanted * 2).tolist()
        assert same.tolist() == wanted.tolist() and tail.tolist() == wanted[1:].tolist()
    assert runs == [1]


def test_numpy_arguments_cannot_be_written() -> None:
    f = fw.jit(lambda x: x.__iadd__(1))
    with pytest.raises(ValueError, match="read-only"):
        f(numpy.zeros(3))


def test_any_layout_of_numpy_arguments() -> None:
    f = fw.jit(lambda x: x + 1)
    base = numpy.arange(12.0).reshape(3, 4)
    for source in (base, base.T, base[::-1], base[:, ::2], base.astype(">f8")):
        for _ in range(2):
            assert f(source).tolist() == (source + 1).tolist()


def test_pending_arguments_are_computed_first() -> None:
    f = fw.jit(lambda x: x + 1)
    for _ in range(2):
        assert f(array(1.0) * 2).tolist() == [3.0]


def test_a_library_step_is_replayed() -> None:
    f, runs = counting(lambda a, b: (a @ b) + 1)
    for factor in (1.0, 2.0):
        a = numpy.eye(3) * factor
        assert f(fw.asarray(a), fw.asarray(a)).tolist() == (a @ a + 1).tolist()
    assert runs == [1]

"""`fw.jit` and the world outside of the arguments: what is guarded, and what cannot be replayed."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from tests.unit.replay.calls import array, counting

import fusewright as fw
import fusewright.numpy as np
from fusewright.base.errors import StrictError

SCALE = 2.0
TABLE = fw.asarray(numpy.arange(4.0))
SETTINGS = {"scale": 2.0}
CALLS: list[Any] = []
KEPT: list[Any] = []


# -- what can change between two calls ----------------------------------------------------------


def test_a_global_number_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    f, runs = counting(lambda a: a * SCALE)
    assert f(array(1.0)).tolist() == [2.0]
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert [f(array(1.0)).tolist() for _ in range(2)] == [[3.0], [3.0]]
    assert runs == [2]


def test_a_global_array_that_changes() -> None:
    f, runs = counting(lambda a: a + TABLE)
    assert f(array(1.0)).tolist() == [1.0, 2.0, 3.0, 4.0]
    TABLE[0] = 10
    try:
        assert [f(array(1.0)).tolist()[0] for _ in range(2)] == [11.0, 11.0]
    finally:
        TABLE[0] = 0
    assert runs == [2]


def test_a_closure_that_changes() -> None:
    offset = 1.0
    f, runs = counting(lambda a: a + offset)
    assert f(array(1.0)).tolist() == [2.0]
    offset = 2.0
    assert f(array(1.0)).tolist() == [3.0]
    assert runs == [2]


def helper(a: Any) -> Any:
    return a * SCALE


def test_what_a_called_function_reads_is_guarded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    f = fw.jit(lambda a: helper(a) + 1)
    assert f(array(1.0)).tolist() == [3.0]
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert f(array(1.0)).tolist() == [6.0]


def test_options_are_part_of_the_structure() -> None:
    f, runs = counting(lambda a: np.exp(a).sum())
    f(array(1.0))
    with fw.options(fuse=False):
        f(array(1.0))
    assert runs == [2]


# -- what cannot be replayed --------------------------------------------------------------------


def plain_reason(f: Any) -> str:
    return "\n".join(f.notes())


def test_code_that_looks_at_a_value_runs_each_time() -> None:
    f, runs = counting(lambda a: a * 2 if a.sum() > 0 else a - 1)
    assert [f(array(v)).tolist() for v in (1.0, -1.0, 2.0)] == [[2.0], [-2.0], [4.0]]
    assert runs == [3] and "looks at a value" in plain_reason(f)


def test_looking_at_an_element_of_an_argument_counts() -> None:
    f, runs = counting(lambda a: a * (2 if a[0] == 1.0 else 3))
    assert [f(array(v)).tolist() for v in (1.0, 2.0)] == [[2.0], [6.0]]
    assert runs == [2]


def test_a_dictionary_it_reads() -> None:
    f = fw.jit(lambda a: a * SETTINGS["scale"])
    assert f(array(1.0)).tolist() == [2.0]
    SETTINGS["scale"] = 4.0
    try:
        assert f(array(1.0)).tolist() == [4.0]
    finally:
        SETTINGS["scale"] = 2.0
    assert "'SETTINGS' (dict)" in plain_reason(f)


def test_random_numbers_are_drawn_each_time() -> None:
    f = fw.jit(lambda a: a + np.random.random(3))
    assert f(array(0.0)).tolist() != f(array(0.0)).tolist()
    assert plain_reason(f)


def keep(a: Any) -> Any:
    double = a * 2
    KEPT_BOX.value = double
    return a + 1


KEPT_BOX = SimpleNamespace(value=None)


def test_an_object_it_writes_to() -> None:
    f = fw.jit(keep)
    for value in (1.0, 2.0):
        f(array(value))
        assert KEPT_BOX.value.tolist() == [2 * value]
    assert "KEPT_BOX" in plain_reason(f)


def remember(a: Any, store: Any = KEPT.append) -> Any:
    store(a * 2)
    return a + 1


def test_an_array_kept_outside_of_the_results() -> None:
    f = fw.jit(remember)
    for value in (1.0, 2.0):
        f(array(value))
    assert [kept.tolist() for kept in KEPT] == [[2.0], [4.0]]
    KEPT.clear()
    assert plain_reason(f)


def test_a_list_argument_that_grows() -> None:
    f = fw.jit(lambda values: values.append(values[0] * 2))
    for _ in range(3):
        values = [array(1.0)]
        f(values)
        assert [v.tolist() for v in values] == [[1.0], [2.0]]
    assert "changes a list" in plain_reason(f)


def test_a_dataclass_argument_that_is_assigned_to() -> None:
    @dataclass
    class State:
        u: Any

    def step(state: State) -> None:
        state.u = state.u + 1

    f = fw.jit(step)
    state = State(array(0.0))
    for _ in range(3):
        f(state)
    assert state.u.tolist() == [3.0] and "changes" in plain_reason(f)


def test_methods_run_each_time_and_say_so() -> None:
    class Model:
        def __init__(self) -> None:
            self.u = array(1.0)

        @fw.jit
        def step(self, dt: float) -> Any:
            self.u = self.u * dt
            return self.u

    model = Model()
    assert [model.step(2.0).tolist() for _ in range(2)] == [[2.0], [4.0]]
    assert "argument of type Model" in plain_reason(Model.step)


def test_shared_memory_is_seen_at_once() -> None:
    source = numpy.zeros(3)
    shared = fw.asarray(source, copy=False)

    def bump(x: Any) -> float:
        x += 1
        return float(source[0])

    f = fw.jit(bump)
    assert [f(shared) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_strict_refuses_what_is_not_replayed() -> None:
    f = fw.jit(lambda a: a * 2 if a.sum() > 0 else a)
    with fw.options(strict=True), pytest.raises(StrictError, match="cannot replay"):
        f(array(1.0))


def test_an_error_in_the_function_leaves_its_arguments_intact() -> None:
    def f(a: Any, fail: bool) -> Any:
        a += 1
        if fail:
            raise LookupError("no")
        return a * 2

    g = fw.jit(f)
    a = array(1.0)
    with pytest.raises(LookupError):
        g(a, True)
    assert a.tolist() == [2.0]
    assert g(a, False).tolist() == [6.0] and g(a, False).tolist() == [8.0]


def test_long_functions_are_one_recording() -> None:
    def long(x: Any) -> Any:
        for _ in range(300):
            x = x * 1.0 + 1.0
        return x

    f, runs = counting(long)
    assert [f(array(v)).tolist() for v in (0.0, 1.0)] == [[300.0], [301.0]]
    assert runs == [1]


def test_a_jitted_function_inside_another() -> None:
    inner = fw.jit(lambda a: a * 2)
    outer, runs = counting(lambda a: inner(a) + 1)
    assert [outer(array(v)).tolist() for v in (1.0, 2.0)] == [[3.0], [5.0]]
    assert runs == [1]


def test_threads_may_replay_at_once() -> None:
    f = fw.jit(lambda a: np.exp(a) * 2)
    f(array(0.0, 0.0))
    wrong: list[float] = []

    def work(value: float) -> None:
        for _ in range(50):
            if f(array(value, value)).tolist() != [wanted[value]] * 2:
                wrong.append(value)

    wanted = {v: (np.exp(array(v)) * 2).tolist()[0] for v in (0.0, 1.0, 2.0)}
    threads = [threading.Thread(target=work, args=(value,)) for value in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_recordings_are_bounded() -> None:
    f = fw.jit(lambda a: a + 1)
    for size in range(1, 80):
        f(fw.asarray(numpy.zeros(size)))
    assert len(f._recordings) <= 64


def test_the_recordings_of_one_structure_are_bounded() -> None:
    f = fw.jit(lambda a, s: a + float(s))
    for s in range(20):
        assert f(array(1.0), s / 3).tolist() == [1.0 + s / 3]
    assert all(len(variants) <= 8 for variants in f._recordings.values())

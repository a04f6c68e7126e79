"""What listeners are told: who asked, what ran, in how many bytes, from where the code came."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from tests.unit.programs_of import array, softmax

import fusewright as fw
import fusewright.numpy as np
from fusewright import driver
from fusewright.base import source
from fusewright.frontends.arrays.opaque import opaque
from fusewright.runtime.profile import Profile, listen, listeners
from fusewright.targets.cpu import record


def value() -> Any:
    return (array(10) * 2).sum()


def loop_body() -> None:
    x = array(10)
    for _ in range(600):
        x = x * 1.0 + 1.0


TRIGGERS: dict[str, Callable[[], object]] = {
    "float()": lambda: float(value()),
    "int()": lambda: int(value()),
    "a truth value": lambda: bool(value() > 1),
    "np.asarray or a buffer": lambda: numpy.asarray(array(10) + 1),
    "print": lambda: str(array(10) + 1),
    "fw.evaluate": lambda: fw.evaluate(value()),
    "tolist()": lambda: (array(10) + 1).tolist(),
    "hash()": lambda: hash(value()),
    "iteration boundary": loop_body,
}


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_who_asked(trigger: str) -> None:
    with listen() as profile:
        TRIGGERS[trigger]()
    assert profile.flushes[0].trigger == trigger
    line = profile.flushes[0].line
    assert line is not None and Path(line[0]) == Path(__file__)


def test_sync_computes_what_is_held() -> None:
    held = array(10) + 1
    with listen() as profile:
        fw.sync()
    assert profile.flushes[0].trigger == "fw.sync" and not held._node.args


def test_lines_of_operations_where_spans_are_recorded() -> None:
    with fw.options(spans=True), listen() as profile:
        fw.evaluate(np.exp(array(10)))
    (kernel,) = profile.kernels
    line = next(o.line for o in kernel.operations if o.name == "exp")
    assert line is not None and line[0] == __file__


def test_where_the_code_came_from(tmp_path: Path) -> None:
    def once() -> tuple[str, float]:
        with listen() as profile:
            fw.evaluate(np.exp(array(10)) - np.log(array(10) + 17))
        (kernel,) = profile.kernels
        return kernel.origin, kernel.compile_seconds

    with fw.options(cache_dir=str(tmp_path)):
        driver.cache_clear()
        origin, seconds = once()
        assert origin == "compiled" and seconds > 0
        assert once() == ("memory", 0.0)
        driver.cache_clear()
        origin, seconds = once()
        assert origin == "disk" and seconds > 0


def test_the_same_code_has_the_same_name_for_all_shapes() -> None:
    with listen() as profile:
        fw.evaluate(array(10) * 3.5)
        fw.evaluate(array(20) * 4.5)
    first, second = profile.kernels
    assert first.name == second.name
    assert (first.bytes_read, second.bytes_read) == (80, 160)


def test_threads() -> None:
    with listen() as profile, fw.options(threads=2):
        fw.evaluate(np.exp(array(2_000_000)))
        fw.evaluate(np.exp(array(3)))
    assert [k.threads for k in profile.kernels] == [2, 1]


def test_several_listeners_hear_the_same() -> None:
    with listen() as outer:
        fw.evaluate(array(3) + 1)
        with listen() as inner:
            fw.evaluate(array(3) + 2)
    assert (len(outer.flushes), len(inner.flushes)) == (2, 1)
    assert outer.flushes[1] is inner.flushes[0] and not listeners


def test_equal_profiles_are_told_apart() -> None:
    with listen() as outer, listen() as inner:
        assert outer == inner == Profile()
    assert not listeners


def test_library_steps_keep_their_order() -> None:
    a = array(6, 6)
    with listen() as profile:
        fw.evaluate((a + 1) @ (a - 1) * 2)
    (flush,) = profile.flushes
    assert [type(step).__name__ for step in flush.steps] == [
        "KernelRecord", "OpaqueRecord", "KernelRecord",
    ]  # fmt: skip
    assert flush.seconds >= sum(step.seconds for step in flush.steps)
    starts = [step.start for step in flush.steps]
    assert starts == sorted(starts) and starts[0] >= flush.start


def test_an_interrupted_evaluation_is_recorded_as_far_as_it_came() -> None:
    def fail(*_: Any) -> Any:
        raise LookupError("no")

    value = opaque("failing", fail, [array(4) * 2], "float64", (4,))
    with listen() as profile, pytest.raises(LookupError):
        fw.evaluate(value + 1)
    (flush,) = profile.flushes
    assert [type(step).__name__ for step in flush.steps] == ["KernelRecord"] and flush.seconds > 0


def test_decisions_are_in_the_users_words() -> None:
    with fw.options(spans=True), listen() as profile:
        fw.evaluate(softmax(array(20, 30)))
    (kernel,) = profile.kernels
    assert ("max with exp", True) in {(d.what, d.fused) for d in kernel.decisions}
    assert all(d.why and d.line for d in kernel.decisions)


def test_an_operation_is_counted_in_one_kernel_only() -> None:
    a = array(40, 30)
    with fw.options(fuse=False), listen() as apart:
        fw.evaluate(softmax(a))
    with listen() as together:
        fw.evaluate(softmax(a))
    unfused = [sum(k.bytes_unfused for k in p.kernels) for p in (apart, together)]
    assert unfused[0] == unfused[1]


@pytest.mark.parametrize("program", source.PROGRAMS)
def test_packaged_programs_are_users(program: str) -> None:
    assert Path(program).exists()
    code = compile("def f(a): return a + 1", program, "exec")
    assert not source.is_inside(code) and source.is_inside(driver.evaluate.__code__)


def test_listings_are_written_when_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most who listen read none: the tree of a kernel's code is made for one that is read, once."""
    made = []
    original = record.tree_once

    def tree(*planned: Any) -> Any:
        made.append(len(planned) == 4)
        return original(*planned)

    monkeypatch.setattr(record, "tree_once", tree)
    with listen() as profile:
        x = np.linspace(0.0, 1.0, 1013)
        float((np.sqrt(x) * 3.0 + np.sin(x)).sum())
    assert made and not any(made)
    assert all("for i in" in kernel.loops == kernel.loops for kernel in profile.kernels)
    assert sum(made) == len(profile.kernels)


def test_records_hold_no_values() -> None:
    """References are counted: a value that only a record held would be stored."""
    x = np.linspace(0.0, 1.0, 1013)
    y = np.exp(x - x.max())
    held = y._node
    gc.disable()
    try:
        before = [sys.getrefcount(each) for each in (held, *held.args)]
        explained = fw.explain(y)
        assert [sys.getrefcount(each) for each in (held, *held.args)] == before
    finally:
        gc.enable()
    assert explained.kernels


def test_what_makes_records_is_loaded_before_the_program() -> None:
    code = "import sys; from fusewright.runtime.profile import listen\nwith listen():\n"
    code += "    assert 'fusewright.targets.cpu.record' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

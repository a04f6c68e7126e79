"""`fw.explain`: what would run is told without running it, and what ran is told as it ran."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tests.unit.programs_of import array, softmax

import fusewright as fw
import fusewright.numpy as np
from fusewright.ir.graph import LEAF
from fusewright.runtime.profile import listen, listeners


def test_nothing_runs() -> None:
    value = softmax(array(20, 30))
    explained = fw.explain(value)
    assert value._node.kind != LEAF and not explained.ran
    (kernel,) = explained.kernels
    assert (kernel.seconds, kernel.llvm) == (0.0, "")


def test_what_is_told_is_what_runs() -> None:
    value = softmax(array(20, 30))
    (told,) = fw.explain(value).kernels
    with listen() as profile:
        fw.evaluate(value)
    (ran,) = profile.kernels
    for field in (
        "operations",
        "decisions",
        "loops",
        "bytes_read",
        "bytes_written",
        "bytes_unfused",
    ):
        assert getattr(told, field) == getattr(ran, field), field
    assert ran.seconds > 0 and ran.threads >= 1 and "define void @kernel" in ran.llvm


def test_places_and_reasons() -> None:
    (kernel,) = fw.explain(softmax(array(20, 30))).kernels
    places = {o.name: (o.place, o.why) for o in kernel.operations}
    assert places["array"] == ("input", "") and places["subtract"] == ("register", "")
    assert places["max"][0] == places["exp"][0] == "row"
    assert places["divide"] == ("memory", "asked for")
    assert "several steps of this kernel read it" in places["exp"][1]


def test_the_text() -> None:
    with fw.options(spans=True):
        value = np.exp(array(1000)) * 2
    text = str(fw.explain(value))
    assert "1 kernel would run; memory moved 16.0 kB" in text
    assert "kernel of 2 operations: exp, multiply" in text
    assert "one operation at a time 32.0 kB (2.0x)" in text
    assert "out[i] = exp(a[i]) * s1" in text
    assert "test_explain.py:" in text and "asked for" in text


def test_what_did_not_fuse_and_why() -> None:
    a = array(40, 30)
    text = str(fw.explain((a - a.mean(axis=0)) * 2))
    assert "not fused: " in text
    with fw.options(fuse=False):
        apart = fw.explain(softmax(a))
    assert len(apart.kernels) > 1


def test_library_steps_and_their_reasons() -> None:
    a = array(5, 5)
    explained = fw.explain((a @ a) + 1)
    (step,) = explained.library_steps
    assert step.name == "matmul" and step.why
    assert "library step matmul (numpy)" in str(explained)


def test_computed_values_say_so() -> None:
    done = fw.evaluate(array(3) + 1)
    assert "is computed: asking for it runs nothing" in str(fw.explain(done))
    mixed = fw.explain(done, array(3) * 2)
    assert mixed.notes[0].startswith("value 1 ") and len(mixed.kernels) == 1
    assert str(fw.explain()).startswith("Nothing has to be computed.\nfw.explain(function")
    assert str(fw.explain(done)).endswith("fw.explain(a + b) what a pending value needs.")


def test_a_function_that_runs_nothing_says_what_to_do() -> None:
    told = str(fw.explain(lambda a: a + 1, numpy.arange(5.0)))
    assert told.startswith("Nothing of ours ran")
    assert "begin with fw.asarray(x)" in told and "fw.explain(function, *args)" in told
    told = str(fw.explain(lambda a: a + 1, array(9)))
    assert told.startswith("1 of the results is still pending: nobody has asked for a value yet; ")
    assert "Nothing of ours" not in told


def test_code_in_memory_is_mentioned() -> None:
    def value() -> Any:
        return np.sqrt(array(7) * 1.25) - 3

    fw.cache_clear()
    assert not fw.explain(value()).notes
    fw.evaluate(value())
    assert "the code for this is in memory" in str(fw.explain(value()))


def test_the_reference_target_says_so() -> None:
    with fw.options(target="reference"):
        assert "NumPy would compute" in str(fw.explain(array(3) + 1))


def test_a_function_is_run_and_told() -> None:
    def work(a: Any, factor: float) -> Any:
        total = float((a * factor).sum())
        return a + total

    explained = fw.explain(work, array(100), factor=2.0)
    assert explained.ran and [f.trigger for f in explained.flushes] == ["float()"]
    assert "still pending" in str(explained) and "test_explain.py" in str(explained)
    assert explained.result.shape == (100,)
    assert not listeners


def test_equal_evaluations_are_told_once() -> None:
    def work(a: Any) -> None:
        for _ in range(5):
            float(a.sum())

    assert ", 5 times" in str(fw.explain(work, array(100)))


def test_steps_numpy_ran_at_once_are_told() -> None:
    def work(a: Any) -> Any:
        return np.percentile(a, 30)

    explained = fw.explain(work, array(100))
    assert any("percentile" in step.name for step in explained.library_steps)
    assert "percentile" in str(explained)


def test_what_jit_cannot_replay_is_told() -> None:
    f = fw.jit(lambda a: a * 2 if a.sum() > 0 else a)
    assert "run anew each time: its Python code looks at a value" in str(fw.explain(f, array(5)))
    g = fw.jit(lambda a: a * 2)
    assert "has 1 recording" in str(fw.explain(g, array(5)))


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match="takes arrays or one function, not int"):
        fw.explain(3)


def test_html_is_escaped_and_complete() -> None:
    a = array(40, 30)
    explained = fw.explain(a < softmax(a))
    html = explained._repr_html_()
    assert "<table>" in html and "for i in range(n):" in html
    assert "a[i, j] < " not in html and html.count("<div>") == html.count("</div>") == 1


def test_numpy_arrays_of_the_user_are_not_operations() -> None:
    value = array(10) + numpy.ones(10)
    (kernel,) = fw.explain(value).kernels
    assert [(o.name, o.place) for o in kernel.operations] == [
        ("array", "input"), ("array", "input"), ("add", "memory"),
    ]  # fmt: skip

"""Errors on the way: what passes, what becomes an internal error, and that nothing is lost."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from typing import Any

import numpy
import pytest
from tests.unit.programs_of import array

import fusewright as fw
import fusewright.numpy as np
from fusewright import driver
from fusewright.base.errors import InternalError
from fusewright.ir.text import parse_program
from fusewright.targets.cpu import build


@pytest.fixture(autouse=True)
def nothing_known(tmp_path: Any) -> Any:
    """Every structure is new."""
    with fw.options(cache_dir=str(tmp_path)):
        driver.cache_clear()
        yield


def failing(error: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


def test_an_unexpected_error_is_ours_and_names_stage_and_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = np.exp(array(10) * 2)
    monkeypatch.setattr("fusewright.codegen.canonical.module_of", failing(KeyError("lost")))
    with pytest.raises(InternalError) as caught:
        fw.evaluate(value)
    assert caught.value.stages[-1] == "lower" and caught.value.stages[0] == "slice"
    text = str(caught.value)
    assert "KeyError in stage 'lower'" in text and "please report" in text
    assert "multiply %0 %1: float64[10]" in text
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("target", "stage"),
    [
        ("fusewright.plan.values.Values.at_box", "nests"),
        ("fusewright.plan.fuse.Grouper._place", "plan"),
        ("fusewright.targets.cpu.compiler.job", "compile"),
        ("fusewright.targets.cpu.launch.Launch.run", "run"),
    ],
)
def test_each_stage_is_named(target: str, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = target.rpartition(".")[2]
    scope: dict[str, Any] = {}
    file = {"nests": "plan/values.py", "plan": "plan/fuse.py", "compile": "targets/cpu/compiler.py",
            "run": "targets/cpu/launch.py"}[stage]  # fmt: skip
    import fusewright.base.source as source

    # a function that stands in the stage's file, so that the traceback does
    code = compile(
        f"def {name}(*a, **k): raise ValueError('broken')", source.PACKAGE + file, "exec"
    )
    exec(code, scope)
    monkeypatch.setattr(target, scope[name])
    with pytest.raises(InternalError, match=f"stage '{stage}'"):
        fw.evaluate(np.sqrt(array(10) + 1))


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt()])
def test_these_pass_as_they_are(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "lower_once", failing(error))
    with pytest.raises(type(error)) as caught:
        fw.evaluate(array(10) - 3)
    assert caught.value is error


def test_a_librarys_own_error_passes() -> None:
    with pytest.raises(numpy.linalg.LinAlgError):
        fw.evaluate(np.linalg.inv(fw.asarray(numpy.zeros((3, 3)))))


def test_a_failed_evaluation_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    a = array(10)
    value, total = a * 2 + 1, (a * 2).sum()
    with monkeypatch.context() as patch:
        patch.setattr("fusewright.targets.cpu.launch.Launch.run", failing(MemoryError()))
        with pytest.raises(MemoryError):
            fw.evaluate(value, total)
    assert value._node.args and total._node.args and value._node.demands == 0
    fw.evaluate(value, total)
    wanted = numpy.asarray(a) * 2
    assert value.tolist() == (wanted + 1).tolist() and float(total) == pytest.approx(wanted.sum())


def test_debug_prints_programs_that_parse() -> None:
    stream = io.StringIO()
    with fw.options(debug=True), redirect_stderr(stream):
        fw.evaluate(np.exp(array(10)) * 2)
    assert len(parse_program(stream.getvalue()).steps) == 1


def test_debug_refuses_a_program_that_is_not_well_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    original = build.stages.build

    def broken(*args: Any) -> Any:
        return replace(original(*args), outputs=frozenset({999}))

    monkeypatch.setattr(build.stages, "build", broken)
    with fw.options(debug=True), pytest.raises(InternalError, match="nothing computes the outputs"):
        fw.evaluate(array(10) * 2)

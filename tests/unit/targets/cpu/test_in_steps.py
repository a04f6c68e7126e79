"""What is compiled beside a program that ends before it is done: the next process goes on from
there, and plans and compiles nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fusewright as fw
import fusewright.numpy as np
from fusewright import driver
from fusewright.base.options import current
from fusewright.runtime import background, kept
from fusewright.runtime.trace import Slice, take
from fusewright.targets.cpu import build, compiler, due, finishing, obtaining, tiers
from fusewright.targets.cpu.compiled import Compiled
from fusewright.targets.cpu.disk_keys import name_of


class Ended(Exception):
    """The process has ended."""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path) -> Iterator[None]:
    background.wait()
    compiler.forget()
    with fw.options(cache_dir=str(tmp_path), background=True):
        driver.cache_clear()
        yield
    driver.cache_clear()


def two_kernels() -> tuple[Any, Slice]:
    """A key and a slice of two kernels, both of long texts."""
    x = np.linspace(0.0, 1.0, 5000)
    first = np.sin(x) * np.exp(x) + np.log(x + 2) ** 1.5
    second = np.cumsum(first) * np.cos(np.tan(x)) + np.sinh(x)
    slice_ = take([first._node, second._node])
    return slice_.code_key(current()), slice_


def compiled_until(monkeypatch: pytest.MonkeyPatch, most: int) -> list[str]:
    """One process that ends after so many kernels; the texts that it compiled."""
    texts: list[str] = []
    real = compiler.compile_ir

    def counted(text: str, *rest: Any) -> Any:
        if len(texts) == most:
            raise Ended
        texts.append(text)
        return real(text, *rest)

    compiler.forget()
    key, slice_ = two_kernels()
    with monkeypatch.context() as patch:
        patch.setattr(finishing.compiler, "compile_ir", counted)
        obtaining.in_steps(key, slice_, current())
    return texts


def unfinished() -> Compiled | None:
    key, _ = two_kernels()
    found: Compiled | None = kept.read(due.unfinished(name_of(key, current())))
    return found


def planned_anew(*_: Any) -> Any:
    raise AssertionError("it has been planned before")


def test_each_process_goes_on_where_the_last_one_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Ended):
        compiled_until(monkeypatch, 0)
    planned = unfinished()
    assert planned is not None and len(planned.kernels) >= 2
    monkeypatch.setattr(build, "planned", planned_anew)
    with pytest.raises(Ended):
        compiled_until(monkeypatch, 1)
    further = unfinished()
    assert further is not None
    left = finishing.left_to_make(further)
    assert len(left) == len(finishing.left_to_make(planned)) - 1
    last = compiled_until(monkeypatch, 100)
    # The pool of threads comes after them, where the file of operations is out of date.
    assert last[: len(left)] == [kernel.module.text for _, kernel in left]
    assert unfinished() is None
    assert compiled_until(monkeypatch, 0) == [], "the code is there"


def test_what_was_made_in_steps_is_what_is_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    key, slice_ = two_kernels()
    at_once = build.build(slice_, current())
    for most in (0, 1):
        with pytest.raises(Ended):
            compiled_until(monkeypatch, most)
    compiled_until(monkeypatch, 100)
    in_steps: Compiled = kept.read(name_of(key, current()))
    assert [k and (k.image, k.final) for k in in_steps.kernels] == [
        k and (k.image, k.final) for k in at_once.kernels
    ]


def test_what_one_process_has_begun_in_vain_waits_for_a_longer_one() -> None:
    key, _ = two_kernels()
    name, options = name_of(key, current()), current()
    assert not due.is_due(key, options, due.LATER)
    for _ in range(2):
        assert due.is_due(key, options, 0)
        due.begin(key, options)
        assert not due.is_due(key, options, 0)
        assert not due.is_due(key, options, due.LATER)
        assert due.is_due(key, options, due.NOW)
        due.keep(name, "planned")  # so far it has come: there is hope again
    due.end(name)
    assert not due.is_due(key, options, 0)
    assert kept.read(due.unfinished(name)) is None


def test_beginning_for_nothing_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: Any) -> Any:
        raise Ended

    key, slice_ = two_kernels()
    due.is_due(key, current(), due.LATER)
    monkeypatch.setattr(obtaining, "in_steps", ends)
    assert due.is_due(key, current(), 0)
    with pytest.raises(Ended):
        tiers.build_in_steps(key, slice_, current(), lambda *_: None)
    assert not due.is_due(key, current(), 0)

"""Better code for what was compiled quickly: when it is made, and that what was made stays made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fusewright as fw
import fusewright.numpy as np
from fusewright import driver
from fusewright.base.options import current
from fusewright.runtime import background
from fusewright.targets.cpu import compiler, finishing
from fusewright.targets.cpu.runner import Runner


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path) -> Iterator[None]:
    background.wait()
    compiler.forget()
    with fw.options(cache_dir=str(tmp_path), background=True, interpret=False):
        driver.cache_clear()
        yield
        background.wait()
    driver.cache_clear()


def two_kernels() -> Runner:
    """As a new process would get it: two kernels, both of long texts."""
    driver.cache_clear()
    x = np.linspace(0.0, 1.0, 5000)
    first = np.sin(x) * np.exp(x) + np.log(x + 2) ** 1.5
    second = np.cumsum(first) * np.cos(np.tan(x)) + np.sinh(x)
    _, runner = driver.prepare([first._node, second._node], current())
    return runner


def final(runner: Runner) -> list[bool]:
    found = fetched(runner)
    return [kernel.final for kernel in found.kernels if kernel is not None]


def fetched(runner: Runner) -> Any:
    closure = dict(
        zip(
            runner.improve.__code__.co_freevars,  # type: ignore[union-attr]
            [cell.cell_contents for cell in runner.improve.__closure__ or ()],  # type: ignore[union-attr]
            strict=True,
        )
    )
    return closure["compiled"]


def test_each_process_has_to_run_it_for_long() -> None:
    for origin in ("compiled", "disk", "disk"):
        runner = two_kernels()
        assert runner.origin == origin and runner.improve is not None
        assert final(runner).count(False) >= 2 and runner.trial > 0.01
        runner.note_run(runner.trial / 2, 100)
        assert runner.improve is not None


def test_what_has_run_for_long_is_improved_and_kept() -> None:
    runner = two_kernels()
    runner.note_run(runner.trial + 1e-3, 2)
    assert runner.improve is None
    background.wait()
    assert two_kernels().improve is None


def test_the_next_process_goes_on_where_one_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(Exception):
        pass

    runner = two_kernels()
    made: list[int] = []
    real = finishing.improve

    def until_the_end(*given: Any) -> Any:
        if made:
            raise Ended
        made.append(1)
        return real(*given)

    count = final(runner).count(False)
    with monkeypatch.context() as patch:
        patch.setattr(finishing, "improve", until_the_end)
        with pytest.raises(Ended):
            runner.improve()  # type: ignore[misc]
    later = two_kernels()
    assert final(later).count(False) == count - 1
    assert later.trial == 0, "it is known to be worth it"
    later.note_run(0.0, 2)
    background.wait()
    assert two_kernels().improve is None

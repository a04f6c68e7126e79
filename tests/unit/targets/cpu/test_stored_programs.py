"""Code on disk in the core's form: the same bits, checked, and improved where it is worth it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fusewright as fw
import fusewright.numpy as np
from fusewright import driver
from fusewright._core import native
from fusewright.runtime import background
from fusewright.runtime.profile import listen
from fusewright.targets.cpu import ahead, compiler, obtaining, stored_programs

pytestmark = pytest.mark.skipif(native is None, reason="programs are the core's")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that an earlier process has filled; nothing was compiled by the installation."""
    monkeypatch.setattr(ahead, "entry_places", dict)
    background.wait()
    compiler.forget()
    with fw.options(cache_dir=str(tmp_path), background=True, interpret=True):
        yield tmp_path
        background.wait()
    driver.cache_clear()


X = fw.evaluate(np.linspace(0.1, 2.0, 50_000))
PROGRAMS = {
    "several kernels": lambda: (np.cumsum(np.sin(X) * np.exp(X)) / X).sum(),
    "float sum": lambda: (X * X + X).sum(),
    "sum of rows": lambda: (X.reshape(250, 200) * 2.0).sum(axis=1).max(),
    "scalars": lambda: (X * 1.5 + 0.25).min(),
}


def value(name: str) -> bytes:
    return np.asarray(PROGRAMS[name]()).tobytes()


def compiled(name: str) -> bytes:
    """The value by code that is compiled now, as a whole and operation by operation; the next
    look-up is a new process's.
    """
    for whole in (True, False):
        driver.cache_clear()
        with fw.options(interpret=not whole):
            found = value(name)
    driver.cache_clear()
    return found


@pytest.fixture
def runners(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where full forms have been asked for."""
    asked: list[str] = []
    for function in ("obtain", "stored"):
        real = getattr(obtaining, function)

        def telling(*given: Any, real: Any = real, function: str = function) -> Any:
            asked.append(function)
            return real(*given)

        monkeypatch.setattr(obtaining, function, telling)
    return asked


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bits_are_those_of_the_full_form(name: str, runners: list[str]) -> None:
    want = compiled(name)
    assert "obtain" in runners
    runners.clear()
    for _ in range(3):
        assert value(name) == want
    assert not runners and driver.cached() > 0 and not driver.runners


def test_any_size_runs() -> None:
    name = "float sum"
    compiled(name)
    value(name)
    for count in (40_000, 70_001, 3_000_000):
        x = np.linspace(0.0, 1.0, count)
        with fw.options(interpret=False):
            want = float((x * x + x).sum())
        assert float((x * x + x).sum()) == want


def test_a_damaged_entry_is_made_good(cache: Path, runners: list[str]) -> None:
    want = compiled("scalars")
    for path in cache.glob("*.fwc"):
        path.write_bytes(path.read_bytes()[:-3])
    runners.clear()
    assert value("scalars") == want
    assert "obtain" in runners


def test_a_form_the_core_refuses_is_not_run(
    runners: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    want = compiled("scalars")
    real = stored_programs.read

    def negative(name: str) -> Any:
        found = real(name)
        return found and ((-1, *found[0][1:]), *found[1:])

    monkeypatch.setattr(stored_programs, "read", negative)
    runners.clear()
    assert value("scalars") == want
    assert runners


def test_what_has_run_for_long_gets_the_best_code_and_keeps_it() -> None:
    want = compiled("several kernels")
    value("several kernels")
    (program,) = [p for p in driver.programs.values() if p.note is not None][:1]
    program.note(10.0, 100)
    assert program.note is None
    background.wait()
    assert value("several kernels") == want
    driver.cache_clear()
    assert value("several kernels") == want
    first = next(iter(driver.programs.values()))
    assert first.note is None, "the next process begins with the best"


def test_who_listens_sees_kernels() -> None:
    compiled("float sum")
    value("float sum")
    with listen() as profile:
        value("float sum")
    assert len(profile.kernels) == 1

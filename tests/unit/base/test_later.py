"""Signals wait while modules are loaded: in whichever threads that happens at once."""

from __future__ import annotations

import _signal
import signal
import threading
from types import SimpleNamespace

import pytest

from fusewright.base import later


def test_a_thread_that_loads_meanwhile_leaves_the_handlers_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It looked before the main thread had set any handler, and goes on after it has."""
    signals = later.Signals()
    looked, entered = threading.Event(), threading.Event()

    def valid_signals() -> set[int]:
        if threading.current_thread() is not threading.main_thread():
            looked.set()
            assert entered.wait(10)
        return set(_signal.valid_signals())

    names = {name: getattr(_signal, name) for name in ("getsignal", "signal", "raise_signal")}
    stub = SimpleNamespace(valid_signals=valid_signals, **names)
    monkeypatch.setattr(later, "raw_signal", stub)
    before = signal.getsignal(signal.SIGINT)
    held: list[bool] = []
    thread = threading.Thread(target=lambda: held.append(signals.enter()))
    thread.start()
    assert looked.wait(10)
    try:
        assert signals.enter()
        entered.set()
        thread.join(10)
        assert held == [False]
        assert signal.getsignal(signal.SIGINT) == signals._note
        assert not signals.enter()
    finally:
        entered.set()
        signals.leave()
    assert signal.getsignal(signal.SIGINT) is before


def test_threads_and_the_program_load_at_once() -> None:
    stop, failed = threading.Event(), []

    def load() -> None:
        while not stop.is_set():
            try:
                with later.undisturbed():
                    pass
            except BaseException as error:  # noqa: BLE001
                failed.append(error)
                return

    before = signal.getsignal(signal.SIGINT)
    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        with later.undisturbed():
            pass
    stop.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_raises_on_the_way_in_leaves_all_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signals = later.Signals()
    calls = 0

    def interrupted(number: int, handler: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return _signal.signal(number, handler)

    names = {name: getattr(_signal, name) for name in ("getsignal", "valid_signals")}
    stub = SimpleNamespace(signal=interrupted, raise_signal=_signal.raise_signal, **names)
    monkeypatch.setattr(later, "raw_signal", stub)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signals.enter()
    assert signals.handlers == {}
    assert signal.getsignal(signal.SIGINT) is before

"""What a signal's handler raises is told apart from errors of ours."""

import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from fusewright.base import interruptions
from fusewright.base.interruptions import is_interruption, outlasting


class Handlers:
    def function(number: int, frame: Any) -> None:
        raise ValueError("by a signal")

    def method(self, number: int, frame: Any) -> None:
        raise ValueError("by a signal")

    def __call__(self, number: int, frame: Any) -> None:
        raise ValueError("by a signal")

    def bound(self, word: str, number: int, frame: Any) -> None:
        raise ValueError(word)


HANDLERS = (
    Handlers.function, Handlers().method, Handlers(), partial(Handlers().bound, "by a signal"),
)  # fmt: skip


@contextmanager
def handled(handler: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("handler", HANDLERS, ids=range(len(HANDLERS)))
def test_a_handlers_errors_are_no_errors_of_ours(handler: Any) -> None:
    with handled(handler):
        with pytest.raises(ValueError, match="by a signal") as raised:
            signal.raise_signal(signal.SIGUSR1)
        assert is_interruption(raised.value)
        with pytest.raises(ValueError, match="invalid literal") as raised:
            int("x")
        assert not is_interruption(raised.value)
    assert is_interruption(KeyboardInterrupt()) and is_interruption(SystemExit(3))


@pytest.mark.parametrize(
    "form", [outlasting, interruptions.python_outlasting], ids=["used", "Python"]
)
def test_an_interruption_of_the_last_call_is_raised_after_it(form: Any) -> None:
    class Thing:
        pass

    done = []

    def farewell(_: Any) -> None:
        done.append("began")
        try:
            signal.raise_signal(signal.SIGUSR1)
        finally:
            done.append("ended")

    def handler(number: int, frame: Any) -> None:
        raise SystemExit(3)

    with handled(handler):
        thing = Thing()
        seen = weakref.ref(thing, form(farewell))
        with pytest.raises(SystemExit):
            del thing
            for _ in range(100):
                done.append("went on")
                time.sleep(0.01)
    assert done[:2] == ["began", "ended"] and seen() is None


class Ended(BaseException):
    pass


@pytest.mark.parametrize(
    "form", [outlasting, interruptions.python_outlasting], ids=["used", "Python"]
)
def test_what_ends_a_thread_ends_that_one(form: Any) -> None:
    """The compiling thread is ended so with its process: it is nothing to the main thread."""
    ends = []

    def farewell(_: Any) -> None:
        interruptions.raise_in(threading.get_ident(), Ended)
        for _ in range(100):
            time.sleep(0.001)

    def work() -> None:
        thing = Handlers()
        seen = weakref.ref(thing, form(farewell))
        try:
            del thing
            for _ in range(100):
                time.sleep(0.01)
        except Ended:
            ends.append(seen())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    for _ in range(20):
        time.sleep(0.001)  # here the main thread would have it
    assert ends == [None]


def test_another_error_there_is_told_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: told.append(found.exc_type))
    thing = Handlers()
    seen = weakref.ref(thing, outlasting(lambda _: 1 / 0))
    del thing
    assert told == [ZeroDivisionError] and seen() is None

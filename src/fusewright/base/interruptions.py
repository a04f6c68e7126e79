"""What a signal's handler raises (Ctrl-C: `KeyboardInterrupt`; an alarm: whatever the program
likes) is the program's: never lost, and never taken for an error of ours.

Python may call a handler wherever it runs code of its own.  Nobody hears of errors in what runs
when an object has died: such a function is made `outlasting`.  The native core does the same for
memory that goes back to the pool (`_core/interruptions.c`).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of all it has
import time
from _thread import get_ident, start_new_thread
from collections.abc import Callable
from functools import partial, wraps
from types import TracebackType
from typing import Any

from fusewright._core import native

SOON = 0.05  # seconds


def is_interruption(error: BaseException, trace: TracebackType | None = None) -> bool:
    """Whether it comes from outside: from a signal's handler, or is no `Exception`."""
    if not isinstance(error, Exception):
        return True
    trace = trace or error.__traceback__
    codes = set()
    while trace is not None:
        codes.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    return bool(codes) and any(_code_of(each) in codes for each in _handlers())


def _handlers() -> list[Any]:
    found = (_signal.getsignal(number) for number in _signal.valid_signals())
    return [handler for handler in found if callable(handler)]


def _code_of(handler: Any) -> Any:
    """What runs when it is called; None where that is not Python's."""
    while isinstance(handler, partial):
        handler = handler.func
    if not hasattr(handler, "__code__"):
        handler = getattr(handler, "__func__", None) or type(handler).__call__
    return getattr(handler, "__code__", None)


def python_outlasting(function: Callable[..., Any]) -> Callable[..., None]:
    """The same function; what interrupts it is raised after it, by its class alone."""

    @wraps(function)
    def call(*given: Any) -> None:
        try:
            function(*given)
        except BaseException as error:
            if not is_interruption(error):
                raise
            # From another thread, when this one is out of here.
            start_new_thread(_raise_soon, (get_ident(), type(error)))

    return call


def _raise_soon(thread: int, kind: type[BaseException]) -> None:
    time.sleep(SOON)
    raise_in(thread, kind)


def raise_in(thread: int, kind: type[BaseException]) -> None:
    """Raise an error in a thread, before its next instruction of Python's."""
    import ctypes

    set_error = ctypes.pythonapi.PyThreadState_SetAsyncExc
    set_error(ctypes.c_ulong(thread), ctypes.py_object(kind))


outlasting: Callable[[Callable[..., Any]], Callable[..., None]]
outlasting = python_outlasting if native is None else native.outlasting

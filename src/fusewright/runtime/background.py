"""Better code while the program already runs: one thread that compiles what was compiled quickly,
and swaps it in.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from _queue import Empty, SimpleQueue  # `queue` has a priority queue too, which loads `heapq`
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import Any

from fusewright.base.interruptions import raise_in

Job = Callable[[], object]

NICE = 10
"""The compiling thread gives way to those that compute."""
TURN = 2e-4
"""Seconds for which the thread keeps the interpreter's lock while the program waits for it (Python:
5e-3).  The program gives it up in each of NumPy's loops: 10 000 sums of 150 x 150 beside 0.3 s of
compiling take 0.28 s with Python's, 0.14 with ours, and 0.12 alone.
"""
MOMENT = 0.002  # seconds
LONGEST_IMPORT = 2.0
"""Seconds that an import may take when the process ends; a job that only imports is stopped."""

to_be_finished: list[Callable[[], bool]] = []
"""Questions whether a job must not be left in the middle when the process ends (a target's)."""
_jobs: SimpleQueue[Job] = SimpleQueue()
_thread: threading.Thread | None = None
_working = _ended = False


def submit(job: Job) -> None:
    """Do it soon, in order, under the options of now; never, if the program ends before."""
    global _thread
    if _ended:
        return
    if _thread is None or not _thread.is_alive():
        _thread = threading.Thread(target=_work, name="fusewright-compiler", daemon=True)
        _thread.start()
    _jobs.put(partial(copy_context().run, job))


def _work() -> None:
    # The program goes first: on Linux a thread has a priority of its own.
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
    with contextlib.suppress(_Stopped):
        while not _ended:
            _do_next()


def _do_next() -> None:
    global _working
    job = _jobs.get()
    _working = True
    if not _ended:
        with _short_turns():
            job()
    del job  # what it holds must not wait for the next one
    _working = _ended


@contextlib.contextmanager
def _short_turns() -> Iterator[None]:
    """The program does not wait for us; what it sets itself meanwhile stays."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN))
    ours = sys.getswitchinterval()
    try:
        yield
    finally:
        if sys.getswitchinterval() == ours:
            sys.setswitchinterval(before)


def wait() -> None:
    """Until everything submitted so far is done."""
    done = threading.Event()
    submit(done.set)
    if not _ended:
        done.wait()


def _end() -> None:
    """The process ends when the program does: what waits is dropped, and so is what is being
    compiled, but where a compiler runs in this process: it must not be in the middle of something
    while the C library calls its destructors; and never in the middle of an import.
    """
    global _ended
    _ended = True
    with contextlib.suppress(Empty):
        while True:  # what jobs hold goes now, while its finalisers can run
            _jobs.get_nowait()
    if _working and _thread is not None:
        if any(ask() for ask in to_be_finished):
            _thread.join()
        else:
            _stop(_thread)


class _Stopped(BaseException):
    """Raised in the thread when the process ends."""


def _stop(thread: threading.Thread) -> None:
    """The thread takes no further step of Python's.  It may wait for a compiler as long as it
    likes, but not be importing while the interpreter ends: it would wait for a lock that is gone,
    and CPython 3.11 ends with a segmentation fault then.  An import that has begun is finished
    first: an extension module that is stopped in its middle may abort the process (islpy does).
    """
    assert thread.ident is not None, "it has started"
    sys.unraisablehook = partial(_unless_stopped, sys.unraisablehook)
    patience = monotonic() + LONGEST_IMPORT
    while thread.is_alive() and _imports(thread.ident) and monotonic() < patience:
        thread.join(MOMENT)
    raise_in(thread.ident, _Stopped)
    while thread.is_alive() and _imports(thread.ident):
        thread.join(MOMENT)
        # Once more: a callback of the import system may have dropped it.
        raise_in(thread.ident, _Stopped)


def _unless_stopped(hook: Callable[[Any], object], unraisable: Any) -> None:
    """What Python says of an exception that nobody catches, but of ours."""
    if unraisable.exc_type is not _Stopped:
        hook(unraisable)


def _imports(ident: int) -> bool:
    """Whether a thread is importing something."""
    frame = sys._current_frames().get(ident)
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def _after_fork() -> None:
    """A child has no thread, and nothing submitted."""
    global _jobs, _thread, _working, _ended
    _jobs, _thread = SimpleQueue(), None
    _working = _ended = False


atexit.register(_end)
os.register_at_fork(after_in_child=_after_fork)

"""Better code while the program already runs: one thread that compiles what was compiled quickly,
and swaps it in.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import sys
import threading
from _queue import Empty, SimpleQueue  # `queue` has a priority queue too, which loads `heapq`
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import partial

Job = Callable[[], object]

NICE = 10
"""The compiling thread gives way to those that compute."""
TURN = 2e-4
"""Seconds."""

when_idle: list[Job] = []
"""What the thread does when nothing is left to compile."""

_turns = threading.RLock()
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
    global _working
    # The program goes first: on Linux a thread has a priority of its own.
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
    while True:
        job = _jobs.get()
        _working = True
        if _ended:
            return
        job()
        del job  # what it holds must not wait for the next one
        if _jobs.empty():
            for each in when_idle:
                each()
        _working = False


@contextlib.contextmanager
def taking_turns() -> Iterator[None]:
    """For work of two threads that call LLVM: each return of a call waits for the interpreter's
    lock, as long as the other thread may keep it (5 ms by default).
    """
    with _turns:
        before = sys.getswitchinterval()
        try:
            sys.setswitchinterval(min(before, TURN))
            yield
        finally:
            sys.setswitchinterval(before)


def wait() -> None:
    """Until everything submitted so far is done."""
    done = threading.Event()
    submit(done.set)
    if not _ended:
        done.wait()


def _end() -> None:
    """The process ends when the program does: what waits is dropped, and so is what is being
    compiled.  LLVM must not be in the middle of that while the C library calls its destructors: a
    process that would do so ends before them, when everything of Python's and of the C library's
    streams is done.
    """
    global _ended
    _ended = True
    with contextlib.suppress(Empty):
        while True:  # what jobs hold goes now, while its finalisers can run
            _jobs.get_nowait()
    if _working and not _leave_early() and _thread is not None:
        _thread.join()


def _leave_early() -> bool:
    """Let the C library's `exit` write its streams and end the process, before it comes to what was
    registered earlier; False where there is no `on_exit`, which alone is told the exit code.
    """
    library = ctypes.CDLL(None)
    try:
        leave, write, when, before = (
            getattr(library, name) for name in ("_exit", "fflush", "on_exit", "__cxa_atexit")
        )
    except AttributeError:
        return False
    # The newest comes first: `fflush(NULL)`, then `_exit(code)`.
    return bool(when(leave, None) == 0 and before(write, None, None) == 0)


def _after_fork() -> None:
    """A child has no thread, and nothing submitted."""
    global _jobs, _thread, _turns, _working, _ended
    _jobs, _thread, _turns = SimpleQueue(), None, threading.RLock()
    _working = _ended = False


atexit.register(_end)
os.register_at_fork(after_in_child=_after_fork)

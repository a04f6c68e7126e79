"""Better code while the program already runs: one thread that compiles what was compiled quickly,
and swaps it in.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import partial

Job = Callable[[], object]

NICE = 10
"""The compiling thread gives way to those that compute."""
TURN = 2e-4
"""Seconds."""

_turns = threading.RLock()
_jobs: queue.SimpleQueue[tuple[Job, bool] | None] = queue.SimpleQueue()
_thread: threading.Thread | None = None


def submit(job: Job, lasting: bool = False) -> None:
    """Do it soon, in order, under the options of now; a `lasting` job even if the program ends."""
    global _thread
    if _thread is None or not _thread.is_alive():
        _thread = threading.Thread(target=_work, name="fusewright-compiler", daemon=True)
        _thread.start()
    _jobs.put((partial(copy_context().run, job), lasting))


def _work() -> None:
    # The program goes first: on Linux a thread has a priority of its own.
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
    while (given := _jobs.get()) is not None:
        job, _ = given
        job()


@contextlib.contextmanager
def taking_turns() -> Iterator[None]:
    """For work of two threads that call LLVM: each return of a call waits for the interpreter's
    lock, as long as the other thread may keep it (5 ms by default).
    """
    with _turns:
        before = sys.getswitchinterval()
        sys.setswitchinterval(min(before, TURN))
        try:
            yield
        finally:
            sys.setswitchinterval(before)


def wait() -> None:
    """Until everything submitted so far is done."""
    done = threading.Event()
    submit(done.set)
    done.wait()


def _stop() -> None:
    """At exit LLVM must not be in the middle of a compilation."""
    thread, jobs = _thread, _jobs
    if thread is None or not thread.is_alive():
        return
    lasting = []
    with contextlib.suppress(queue.Empty):
        while True:
            given = jobs.get_nowait()
            if given is not None and given[1]:
                lasting.append(given)
    for each in (*lasting, None):
        jobs.put(each)
    thread.join()


def _after_fork() -> None:
    """A child has no thread, and nothing submitted."""
    global _jobs, _thread, _turns
    _jobs, _thread, _turns = queue.SimpleQueue(), None, threading.RLock()


atexit.register(_stop)
os.register_at_fork(after_in_child=_after_fork)

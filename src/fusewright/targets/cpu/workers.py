"""Who compiles: a process that runs `llvm`, or this one where no process can be started."""

from __future__ import annotations

import _socket  # `socket` makes enumerations of all it has
import fcntl
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Any, Protocol

import llvmlite

from fusewright.base import forks
from fusewright.base.errors import InternalError
from fusewright.runtime import background
from fusewright.targets.cpu.llvm import ANSWER, DONE, Compiler, Job, Refused, exactly

__all__ = ["Job", "Worker", "worker"]

CHECKED = ("0.46", "0.47", "0.48", "0.49", "0.50")
"""Versions of llvmlite whose functions are those that `llvm` declares; others are asked."""


START, LOOK = 10.0, 3.0
"""Seconds until a process that starts must have greeted, and between two looks at whether one that
was given work does any.
"""
SIGNALS = [number for number in range(1, 32) if number not in (9, 19)]
"""Those that may be ignored: not SIGKILL and SIGSTOP."""


class Worker(Protocol):
    """Compiles for one thread at a time."""

    def promise(self, job: Job) -> Callable[[], bytes]:
        """Begin; what is returned waits for the end."""

    def close(self) -> None:
        """It is not needed any more."""


def worker() -> Worker:
    """A process where one can be had."""
    if WorkerProcess.is_possible:
        with suppress(OSError):
            return WorkerProcess()
    return WorkerHere()


class _Held:
    """An open file, which the program may have closed (daemons close all) and its number be
    another's by now.
    """

    def __init__(self, number: int) -> None:
        self.number, self.identity = number, _identity(number)

    def is_ours(self) -> bool:
        """Whether the number still means this file."""
        return _identity(self.number) == self.identity

    def close(self) -> None:
        """Once."""
        if self.is_ours():
            os.close(self.number)


def _identity(number: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _above(number: int) -> int:
    """The same file at a number that is not one of the standard files."""
    if number > 2:
        return number
    try:
        return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(number)


class _Frozen(Exception):
    """The process lives and does nothing: it was stopped."""


def _worked(pid: int) -> tuple[int, bool]:
    """Ticks for which a process has had a processor; whether it wants one, or the disk, now."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, *fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0, False  # nothing to be seen: two looks are all it gets
    return int(fields[10]) + int(fields[11]), state in (b"R", b"D")


class WorkerProcess:
    """A process of its own; when it has ended (it does after a while), another one."""

    is_possible = (
        # A program that Python is part of would start itself once more.
        os.path.basename(sys.executable or "").startswith("python")
        and not hasattr(sys, "frozen")
        and hasattr(_socket, "socketpair")
    )

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.answers: list[bytes | Refused] = []
        self.start()

    def start(self) -> None:
        ours, theirs = _socket.socketpair()
        end, life = os.pipe()
        try:
            # Not at the places of standard files, which programs give to others.
            self.files = [_Held(_above(ours.detach())), _Held(_above(life))]
            self.socket = _socket.socket(fileno=self.files[0].number)
            self.socket.settimeout(START)
            self.child = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", *worker_command()],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    (os.POSIX_SPAWN_DUP2, end, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,  # an interruption at the terminal is this process's
                setsigmask=(),
                setsigdef=SIGNALS,
            )
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            os.close(end)
        self.pid = 0  # until it greets
        self.ticks = -1  # at the last look

    def promise(self, job: Job) -> Callable[[], bytes]:
        """Send a job."""
        if self.answers:
            self.jobs.clear()
            self.answers.clear()
        self.jobs.append(job)
        with suppress(OSError, EOFError, _Frozen):  # `_collect` finds out
            self._send(job)
        return partial(self._answer, len(self.jobs) - 1)

    def close(self) -> None:
        """Let it end: it does when the second file is closed."""
        self.socket.detach()
        while self.files:
            self.files.pop().close()

    def _answer(self, number: int) -> bytes:
        if not self.answers:
            self.answers = self._collect()
        answer = self.answers[number]
        if isinstance(answer, Refused):
            raise InternalError(str(answer))
        return answer

    def _collect(self) -> list[bytes | Refused]:
        """The answers to all jobs; by another process where this one has ended meanwhile, by none
        where that does not start.
        """
        try:
            return self._asked()
        except _Frozen:
            self._kill()
        except (OSError, EOFError):
            self._leave()
        try:
            self.start()
            for job in self.jobs:
                self._send(job)
            return self._asked()
        except (OSError, EOFError):
            if self.pid:
                raise InternalError("LLVM ended in the midst of its work") from None
        except _Frozen:
            self._kill()
        WorkerProcess.is_possible = False
        return [_compiled_here(job) for job in self.jobs]

    def _kill(self) -> None:
        """End a process that lives and does not answer."""
        with suppress(OSError):
            os.kill(self.pid or self.child, 9)  # SIGKILL
        self._leave()

    def _leave(self) -> None:
        """It is gone; its number may be another's by now."""
        if not self.pid:
            self._reap()
        self.close()

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            os.waitpid(self.child, 0)  # it has left its work to a process of nobody

    def _send(self, job: Job) -> None:
        if not all(file.is_ours() for file in self.files):
            raise EOFError
        left = memoryview(job.to_bytes())
        while left:
            # Not SIGPIPE, which a program may have set to what ends it.
            left = left[self._patiently(self.socket.send, left, _socket.MSG_NOSIGNAL) :]

    def _patiently(self, do: Callable[..., Any], *arguments: Any) -> Any:
        """A call that waits for the process, for as long as that works.  A text may keep it busy
        for minutes; one that is stopped (SIGSTOP, a debugger, a frozen group) gets no time at all.
        """
        while True:
            try:
                return do(*arguments)
            except TimeoutError:
                ticks, wants = _worked(self.pid) if self.pid else (-1, False)
                if ticks <= self.ticks and not wants:
                    raise _Frozen from None
                self.ticks = ticks

    def _asked(self) -> list[bytes | Refused]:
        self._send(Job())
        if not self.pid:
            greeting = self.received()
            self._reap()
            if isinstance(greeting, Refused):
                raise InternalError(str(greeting))
            self.pid = int(greeting)
            self.socket.settimeout(LOOK)
        return [self.received() for _ in self.jobs]

    def received(self) -> bytes | Refused:
        said, length = ANSWER.unpack(exactly(self._receive, ANSWER.size))
        data = exactly(self._receive, length)
        return data if said == DONE else Refused(data.decode())

    def _receive(self, most: int) -> bytes:
        received: bytes = self._patiently(self.socket.recv, most)
        return received


class WorkerHere:
    """LLVM in this process."""

    def promise(self, job: Job) -> Callable[[], bytes]:
        """Compile when asked."""
        return partial(_answered_here, job)

    def close(self) -> None:
        """Nothing to close."""


def _answered_here(job: Job) -> bytes:
    answer = _compiled_here(job)
    if isinstance(answer, Refused):
        raise InternalError(str(answer))
    return answer


_here = threading.RLock()


def _compiled_here(job: Job) -> bytes | Refused:
    with _here:
        try:
            return _compiler().compile(job)
        except Refused as refused:
            return refused


@cache
def _compiler() -> Compiler:
    forks.wait_for(forks.COMPILER, lambda: _here if _here.acquire(blocking=False) else None)
    return Compiler(library(), is_unchecked())


def is_here() -> bool:
    """Whether this process has LLVM."""
    return bool(_compiler.cache_info().currsize)


background.to_be_finished.append(is_here)


def worker_command() -> list[str]:
    """`llvm` and what it is told; the folders are those that have llvmlite."""
    from fusewright.targets.cpu import llvm

    return [llvm.__file__, library(), str(int(is_unchecked())), *filter(None, sys.path)]


def is_unchecked() -> bool:
    """Whether llvmlite is to be asked if it declares its functions as `llvm` does."""
    return not llvmlite.__version__.startswith(CHECKED)


@cache
def library() -> str:
    """The file with LLVM."""
    folder = os.path.join(os.path.dirname(llvmlite.__file__), "binding")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = next((name for name in names if name.endswith("llvmlite.so")), None)
    if found is None:
        # Imported here: only a distribution that keeps the library elsewhere needs it.
        from llvmlite.binding import ffi

        return str(ffi.lib._name)
    return os.path.join(folder, found)

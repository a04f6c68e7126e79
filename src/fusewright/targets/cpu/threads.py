"""Kernels run here: on this thread, or split over a pool of threads that costs well under a
microsecond to start.

The pool is machine code of our own (`targets.cpu.pool`); a new process takes it from the disk cache
and starts it when the first launch needs it.  A fork leaves the child without threads, so it starts
a fresh pool.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from fusewright._core import native
from fusewright.base.figures import CYCLES, LINES, WAKE
from fusewright.base.later import later
from fusewright.base.options import MAX_THREADS
from fusewright.ir.graph import Memory
from fusewright.runtime import cache as disk
from fusewright.runtime import pages
from fusewright.runtime.buffers import allocate
from fusewright.runtime.image import Image, LoadedImage, load
from fusewright.runtime.limits import cpu_count, default_threads, thread_count
from fusewright.targets.cpu.features import BASELINE

if TYPE_CHECKING:
    from fusewright.machine import record
    from fusewright.targets.cpu import ahead, compiler, entry, pool
else:
    record = later("fusewright.machine.record")
    ahead = later("fusewright.targets.cpu.ahead")
    compiler = later("fusewright.targets.cpu.compiler")
    entry, pool = later("fusewright.targets.cpu.entry"), later("fusewright.targets.cpu.pool")

SPIN_CYCLES = int(0.4 * CYCLES * WAKE)
"""How long a waiting thread spins: 25-50 us of the time-stamp counter, less than it takes to wake
it.  Longer spinning slows other libraries' threads.
"""

_METH_FASTCALL = 0x80


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Code(NamedTuple):
    """The pool's machine code in this process.

    `call(kernel, args, units, scratch)` runs units [0, units) on this thread and holds the GIL: for
    work of microseconds.
    """

    image: LoadedImage
    call: Callable[[int, int, int, int], int]
    launch: Callable[[int, int, int, int, int, int, int, int], int]
    start: Callable[[int, int, int], int]
    definitions: tuple[_MethodDef, ...]


def code() -> Code:
    """The code of this process, loaded (and, where the cache does not have it, compiled) at first
    use.
    """
    return _code or _load_code()


_code: Code | None = None
_loading = threading.RLock()


def _load_code() -> Code:
    global _code
    with _loading:  # Two copies would mean one thread's copy unmapped under its pool.
        if _code is None:
            image = load(thread_image())
            call, call_definition = _python_function(b"call", image.address("py_call"))
            launch, launch_definition = _python_function(b"launch", image.address("py_launch"))
            start = ctypes.CFUNCTYPE(
                ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
            )(image.address("start"))
            made = Code(image, call, launch, start, (call_definition, launch_definition))
            if _code is None:  # else a signal's handler has come between
                _code = made
        return _code


def thread_image() -> Image:
    """The pool's code: from the installation, from the disk, or compiled now."""
    key = image_name()
    stored = ahead.entry(key) or disk.get(key)
    if stored is not None:
        try:
            return Image.from_bytes(stored)
        except ValueError:
            pass  # Damaged: made again below.
    image = compiled_image()
    disk.put(key, image.to_bytes())
    return image


def image_name() -> str:
    """That of the code: another one for another text or compiler."""
    return disk.digest(f"{compiler.version()}\n{_text()}".encode())


def compiled_image() -> Image:
    """The code, made anew."""
    # Level 0: it takes an eighth of the time (25 ms), and a call or a launch is as quick.
    return compiler.compile_ir(_text(), BASELINE, 0)


def _text() -> str:
    return pool.TEXT + entry.TEXT


def _python_function(name: bytes, address: int) -> tuple[Callable[..., int], _MethodDef]:
    """Machine code as a built-in function; the definition must live as long as the function."""
    definition = _MethodDef(name, address, _METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    make.restype = ctypes.py_object
    return make(ctypes.addressof(definition), None, None), definition


class _Pool:
    """The threads of this process, `size` of them with the caller, and the scratch they keep."""

    __slots__ = ("state", "size", "cpus", "spin", "scratch", "turn", "team", "team_says")

    def __init__(self) -> None:
        # Never unmapped: a sleeping thread looks at it when it wakes, even while the process exits.
        self.state = pages.map_pages(pages.whole_pages(pool.STATE_BYTES))
        self.size = 1
        self.cpus = 0
        self.spin = 0
        self.scratch: Memory | None = None
        self.turn = threading.Lock()
        self.team: Any = None
        self.team_says = (0, 0, 0)  # its address, the threads, the least work

    def grow(self, threads: int) -> None:
        """Have this many threads, or as many as the system grants."""
        self.cpus = cpu_count()
        self.size = code().start(self.state, self.size, min(threads, MAX_THREADS))

    def set_spin(self, threads: int) -> None:
        """More threads than CPUs must not spin: each would take the CPU another one waits for."""
        spin = SPIN_CYCLES if threads <= self.cpus else 0
        if spin != self.spin:
            self.spin = ctypes.c_int64.from_address(self.state).value = spin

    def scratch_of(self, nbytes: int) -> int:
        """The address of so many bytes of scratch, kept for the next launch."""
        if self.scratch is None or self.scratch.nbytes < nbytes:
            self.scratch = None  # Back to the buffer pool first: the two need not exist together.
            self.scratch = allocate(nbytes)
        return self.scratch.address


class _Own(threading.local):
    """The scratch of a Python thread that runs a kernel by itself."""

    scratch: Memory | None = None


thread_pool = _Pool()
_own = _Own()


def _after_fork() -> None:
    """The child has this thread only: its pool is new, and so are the locks."""
    global thread_pool, _loading
    thread_pool = _Pool()
    _loading = threading.RLock()
    _fork_join.cache_clear()


os.register_at_fork(after_in_child=_after_fork)


def call(kernel_address: int, args_address: int, units: int, scratch: int) -> None:
    """Run all units on this thread, holding the GIL.  A hot caller keeps `code().call` instead."""
    code().call(kernel_address, args_address, units, scratch)


def launch(
    kernel_address: int,
    args_address: int,
    units: int,
    grain: int,
    scratch_bytes: int,
    threads: int,
) -> None:
    """Run units [0, units) on up to `threads` threads, in ranges that are multiples of `grain`; the
    GIL is released.

    Returns when all are done.  One launch at a time has the pool; another Python thread's launch
    meanwhile runs on that thread alone.
    """
    if units <= 0:
        return
    ranges = -(-units // grain)
    wanted = ranges if ranges < threads else threads
    here = thread_pool
    if wanted > 1 and here.turn.acquire(False):
        try:
            if wanted > here.size:
                here.grow(wanted)
                wanted = min(wanted, here.size)
            here.set_spin(wanted)
            stride = -(-scratch_bytes // LINES) * LINES
            scratch = here.scratch_of(stride * wanted) if stride else 0
            (_code or code()).launch(
                here.state, kernel_address, args_address, units, grain, scratch, stride, wanted
            )
        finally:
            here.turn.release()
    else:
        scratch = own_scratch(scratch_bytes)
        code().launch(0, kernel_address, args_address, units, grain, scratch, 0, 1)


def run_units(
    kernel_address: int, words: Sequence[int], units: int, grain: int, scratch: int
) -> None:
    """Run units [0, units) on these argument words, on the threads that the settings grant."""
    table = words if isinstance(words, array) else array("q", words)
    launch(kernel_address, table.buffer_info()[0], units, grain, scratch, thread_count())


def take_team(threads: int) -> int:
    """The pool for a kernel of loops, which launches its parts itself: the address of `launch`, the
    pool and the number of threads; 0 where there is one thread, or another Python thread has the
    pool.  Whoever got it calls `give_team` when the kernel has ended.
    """
    here = thread_pool
    if threads < 2 or not here.turn.acquire(blocking=False):
        return 0
    address, counted, least = here.team_says
    worth = record.current().parallel_loop
    if counted != threads or least != worth or threads > here.size:
        if threads > here.size:
            here.grow(threads)
        launch_address, many = code().image.address("launch"), min(threads, here.size)
        here.team = (ctypes.c_int64 * 4)(launch_address, here.state, many, worth)
        address = ctypes.addressof(here.team)
        here.team_says = address, threads, worth
    here.set_spin(min(threads, here.size))
    return address


def give_team() -> None:
    """The pool may be taken again."""
    thread_pool.turn.release()


def own_scratch(nbytes: int) -> int:
    """The address of this Python thread's scratch, `nbytes` or longer; 0 where none is wanted."""
    if nbytes == 0:
        return 0
    kept = _own.scratch
    if kept is None or kept.nbytes < nbytes:
        kept = _own.scratch = allocate(nbytes)
    return kept.address


if native is not None:
    native.set_threads(launch, own_scratch, default_threads, take_team, give_team)


def fork_join_seconds(threads: int | None = None) -> float:
    """What starting and ending an empty launch costs, measured once; 0 for one thread."""
    count = threads or thread_count()
    return _fork_join(count) if count > 1 else 0.0


@cache
def _fork_join(threads: int) -> float:
    idle = code().image.address("idle")
    batches = []
    for _ in range(6):
        start = time.perf_counter()
        for _ in range(8):
            launch(idle, 0, threads, 1, 0, threads)
        batches.append((time.perf_counter() - start) / 8)
    # The first batch starts the threads; the median leaves out what the system did meanwhile.
    return sorted(batches[1:])[2]

"""The pools of blocks under `runtime.buffers`: addresses go out and come back, none goes out twice.

A block comes back when the garbage collector decides, which may be inside these very functions:
coming back never waits for a lock.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from fusewright.base.errors import OutOfMemory
from fusewright.base.figures import LINE
from fusewright.base.options import current
from fusewright.runtime import limits, pages
from fusewright.runtime.demand import WINDOW, Demand

SMALL = 32 << 10
"""Bytes: the largest block cut from a slab, an eighth of it."""
HUGE = 2 * pages.HUGE_PAGE
"""Bytes: from here on blocks are of huge pages: rounding adds less than half."""
_FINE = 64 << 20
"""Bytes: from here on size classes are 1/16 of a power of two apart, below 1/4."""
_MARGIN = 64 << 20
"""Bytes left to everybody else, and mapped between two looks at what is free: a look costs 0.1 ms,
touching so many at least 5.
"""

FLOOR = 8 << 20
"""Bytes that may wait whatever the demand (as many wait in the native core)."""
WASTE = 8
"""A waiting block may be larger than a request by the request's size over this."""

_SIZES = 10_000
"""Sizes whose class is remembered."""


def size_class(nbytes: int) -> int:
    """The bytes a block of `nbytes` takes.

    >>> [size_class(n) for n in (0, 1, 65, 1100, 33 << 10, 100 << 20)]
    [64, 64, 128, 1280, 40960, 104857600]
    """
    if nbytes <= 1024:
        return max(-(-nbytes // LINE), 1) * LINE
    steps = 16 if nbytes > _FINE else 4
    step = (1 << ((nbytes - 1).bit_length() - 1)) // steps
    if nbytes > SMALL:
        step = max(step, pages.PAGE)
    return -(-nbytes // step) * step


class SmallPool:
    """Slabs of one size class each; `free[lines]` is the list of free blocks for that many cache
    lines.

    There is no lock: a list's pop, append and extend are single steps.
    """

    def __init__(self, large: LargePool) -> None:
        self.classes: dict[int, list[int]] = {}
        self.free = [
            self.classes.setdefault(size_class(LINE * lines), [])
            for lines in range(SMALL // LINE + 1)
        ]
        self._large = large
        self._slabs: dict[int, int] = {}

    def cut(self, nbytes: int) -> int:
        """A block from a new slab; the slab's other blocks become free."""
        size = size_class(nbytes)
        slab = _slab_bytes(size)
        start = self._large.take_slab(slab)
        self._slabs[start] = size
        self.classes[size].extend(range(start + (slab // size - 1) * size, start, -size))
        return start

    def pooled(self) -> int:
        """Bytes in no block that is in use."""
        tails = sum(_slab_bytes(size) % size for size in self._slabs.copy().values())
        return tails + sum(size * len(free) for size, free in self.classes.items())

    def trim(self) -> None:
        """Give the slabs that are wholly free back to the system."""
        for size, free in self.classes.items():
            self._trim_class(size, free)

    def _trim_class(self, size: int, free: list[int]) -> None:
        slab = _slab_bytes(size)
        blocks: dict[int, list[int]] = {}
        while free:
            try:
                address = free.pop()
            except IndexError:  # Another thread took the last one.
                break
            blocks.setdefault(address // slab * slab, []).append(address)
        for start, members in blocks.items():
            if len(members) == slab // size:
                del self._slabs[start]
                self._large.drop_slab(start, slab)
            else:
                free.extend(members)


def _slab_bytes(size: int) -> int:
    """Also the slab's alignment, so that a block's address tells its slab."""
    return 64 << 10 if size <= 1024 else 256 << 10


class LargePool:
    """Blocks mapped one by one; those that came back wait, oldest first, for another request of
    their class.

    The lock is re-entrant, and every step tolerates that a finaliser runs the others in its midst:
    what is iterated over is a `copy`, which is made in one step (`list(x.items())` is not).
    """

    def __init__(self) -> None:
        self.mapped = 0
        self.pooled = 0
        self.peak = 0
        self._sizes: dict[int, int] = {}
        self.idle: dict[int, list[int]] = {}
        self._order: dict[int, int] = {}
        self._unchecked = _MARGIN
        self._lock = threading.RLock()
        self._returned: deque[tuple[int, int]] = deque()
        self.shelves: Callable[[int], list[tuple[int, int]]] = lambda limit: []
        """Takes off what waits in the native core beyond so many bytes."""
        self.waiting: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """Bytes that wait there, and the least since this was asked last."""
        self._most_on_shelves = 0
        # Kept here because module globals may be gone when the interpreter shuts down.
        self._is_finalizing = sys.is_finalizing
        self.demand = Demand()
        self._is_aging = False

    def take(self, nbytes: int) -> tuple[int, int]:
        """The address and size of a block; raises `OutOfMemory`."""
        size = self._sizes.get(nbytes) or self._remember_size(nbytes)
        with self._lock:
            if self._returned:
                self._sort_in()
            self.demand.ask(size)
            fitting = size if self.idle.get(size) else self._larger(size)
            idle = self.idle.get(fitting)
            if idle:
                address, size = idle.pop(), fitting
                self._order.pop(address, None)
                self.pooled -= size
            else:
                self._make_room(size)
                address = self._map(nbytes, size, pages.HUGE_PAGE if size >= HUGE else pages.PAGE)
            self._note_peak()
        if self._returned:
            self._settle()
        return address, size

    def _larger(self, size: int) -> int:
        """The size of a waiting block that is little larger; 0 where there is none."""
        most = size + size // WASTE
        return min(
            (s for s, idle in self.idle.copy().items() if idle and size < s <= most), default=0
        )

    def _make_room(self, size: int) -> None:
        """Before more is mapped: what waits and is not needed goes, as far as the process would
        hold more than was in use at once.
        """
        self.demand.miss(size)
        if current().memory_limit is not None:
            return
        in_use = self.mapped - self.pooled
        most = max(self.demand.most(), in_use + size) + FLOOR
        for address, waiting in self._order.copy().items():
            if self.mapped + size <= most:
                return
            if not self.demand.is_needed(waiting):
                self.demand.give_up(waiting)
                self._give_up(address, waiting)

    def _give_up(self, address: int, size: int) -> None:
        """A block that waits goes back to the system."""
        self._order.pop(address, None)
        idle = self.idle.get(size, ())
        if address in idle:
            self.idle[size].remove(address)
            self.pooled -= size
            self._unmap(address, size)

    def age(self) -> None:
        """What has not been asked for lately goes back to the system, period by period; the thread
        that does it ends when little waits.
        """
        while self.pooled > FLOOR and not self._is_finalizing():
            time.sleep(WINDOW)
            with self._lock:
                self._sort_in()
                for address, size in self._order.copy().items():
                    if self.pooled > FLOOR and self.demand.is_forgotten(size):
                        self._give_up(address, size)
        self._is_aging = False

    def _begin_aging(self) -> None:
        if not self._is_aging and self.pooled > FLOOR:
            self._is_aging = True
            with contextlib.suppress(RuntimeError):  # the interpreter is about to end
                threading.Thread(target=self.age, name="fusewright-pool", daemon=True).start()

    def on_shelves(self) -> int:
        """Bytes that wait in the native core."""
        with self._lock:
            self._note_peak()
            return self.waiting()[0]

    def _note_peak(self) -> None:
        """Since the last look, nothing but what waits in the native core has changed."""
        in_use = self.mapped - self.pooled - self.waiting()[1]
        self.demand.use(in_use)
        if in_use > self.peak:
            self.peak = in_use

    def clear_shelves(self, most: int) -> None:
        """Take back what waits in the native core; so many bytes may wait there from now on."""
        with self._lock:
            self._most_on_shelves = most
            self._take_off()
        self._settle()

    def _take_off(self) -> None:
        self._note_peak()
        for address, size in self.shelves(0):
            self._keep(address, size)
        self.shelves(self._most_on_shelves)
        self.waiting()  # what has changed hands was never in use

    def give_back(self, address: int, size: int) -> None:
        """Any thread, any moment: where the lock is taken, its holder sorts the block in."""
        if self._is_finalizing():
            return
        if self._lock.acquire(blocking=False):
            try:
                self._keep(address, size)
            finally:
                self._lock.release()
        else:
            self._returned.append((address, size))
        if self._returned:
            self._settle()

    def trim(self, keep: int = 0) -> None:
        """Give waiting blocks back to the system until at most `keep` bytes wait."""
        with self._lock:
            self._sort_in()
            self._evict(keep)
        self._settle()

    def after_fork(self) -> None:
        """The child has one thread: nobody else can hold the lock, whatever it says."""
        self._lock = threading.RLock()
        self._is_aging = False

    def take_slab(self, size: int) -> int:
        """Pages aligned to their size, for small blocks."""
        with self._lock:
            address = self._map(size, size, size)
            self._note_peak()
        self._settle()
        return address

    def drop_slab(self, address: int, size: int) -> None:
        """The pages of a slab go back to the system."""
        with self._lock:
            self._unmap(address, size)
        self._settle()

    def _map(self, nbytes: int, size: int, alignment: int) -> int:
        """Fresh pages; what waits in the pool is given up before the request is refused."""
        self._check(nbytes, size)
        try:
            address = pages.map_pages(size, alignment)
        except OSError:
            self._evict(0)
            address = self._map_or_refuse(nbytes, size, alignment)
        if size >= HUGE:
            pages.advise_huge(address, size)
        self.mapped += size
        return address

    def _unmap(self, address: int, size: int) -> None:
        self.mapped -= size
        pages.unmap(address, size)

    def _settle(self) -> None:
        while self._returned and self._lock.acquire(blocking=False):
            try:
                self._sort_in()
            finally:
                self._lock.release()

    def _remember_size(self, nbytes: int) -> int:
        if len(self._sizes) > _SIZES:
            self._sizes.clear()
        size = self._sizes[nbytes] = size_class(nbytes)
        return size

    def _sort_in(self) -> None:
        while self._returned:
            self._keep(*self._returned.popleft())

    def _keep(self, address: int, size: int) -> None:
        """A block joins the pool; the oldest leave it where it grows beyond its limit."""
        limit = _limit()
        if size > limit or not self._is_worth_keeping(size):
            self._unmap(address, size)
            return
        if self.pooled + size > limit:
            self._evict(limit - size)
        self.idle.setdefault(size, []).append(address)
        self._order[address] = size
        self.pooled += size
        self._begin_aging()

    def _is_worth_keeping(self, size: int) -> bool:
        if self.pooled + size <= FLOOR or current().memory_limit is not None:
            return True
        return self.demand.is_worth_keeping(size, len(self.idle.get(size, ())))

    def _evict(self, keep: int) -> None:
        if keep == 0:
            self._take_off()
        while self.pooled > keep:
            address = next(iter(self._order), None)
            if address is None:
                return
            self._give_up(address, self._order.get(address, 0))

    def _check(self, nbytes: int, size: int) -> None:
        """Linux promises memory it does not have and kills who uses it: refuse before."""
        self._unchecked += size
        if self._unchecked < _MARGIN:
            return
        if nbytes > self._writable_bytes():
            self._evict(0)
            free = self._writable_bytes()
            if nbytes > free:
                raise _exhausted(nbytes, free)
        self._unchecked = 0

    def _writable_bytes(self) -> int:
        """What is free, less what this pool has mapped and nobody has written yet."""
        untouched = max(self.mapped - limits.resident_memory(), 0)
        return limits.available_memory() - untouched - _MARGIN

    def _map_or_refuse(self, nbytes: int, size: int, alignment: int) -> int:
        try:
            return pages.map_pages(size, alignment)
        except OSError as error:
            raise _exhausted(nbytes, self._writable_bytes()) from error


def _limit() -> int:
    """Bytes that may wait in the pool."""
    chosen = current().memory_limit
    return limits.quarter_of_memory() if chosen is None else chosen


def _exhausted(nbytes: int, free: int) -> OutOfMemory:
    # Imported here: most programs have the memory they ask for.
    from fusewright.base.words import memory

    return OutOfMemory(
        f"cannot allocate {memory(nbytes)}",
        why=f"{memory(max(free, 0))} of memory can still be used"
        " (RAM and swap, within the limits set for this process)",
        help="work on parts of the data, use a smaller dtype, or drop arrays that are not needed",
    )

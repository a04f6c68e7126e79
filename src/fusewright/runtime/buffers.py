"""Memory for results: blocks that go back to a pool when nobody holds them, because fresh pages are
the hidden cost.

Writing 64 MiB of fresh memory takes 15 times as long as writing memory that was touched before.

* Small blocks (up to 32 KiB) are cut from slabs; taking and returning one is a list's pop and
  append, without a lock.
* Large blocks are mapped one by one, from 4 MiB up on huge pages, and wait for reuse while the
  program is likely to ask for them (`runtime.demand`), or up to `options.memory_limit` where one is
  set.  Those up to 1 MiB wait in the native core, where taking one is as quick as taking a small
  one; not while a limit is set, which is then exact.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from fusewright._core import native
from fusewright.base.options import Options, current, watchers
from fusewright.ir.graph import Memory
from fusewright.runtime.blocks import SMALL, LargePool, SmallPool


class Statistics(NamedTuple):
    """Bytes mapped from the system, of these free in the pool, the most ever in use at once; blocks
    handed out.
    """

    mapped: int
    pooled: int
    peak: int
    allocations: int

    @property
    def in_use(self) -> int:
        return self.mapped - self.pooled


_Everything = ctypes.c_ubyte * (1 << 62)
"""One array type for all blocks (making one for each size takes 10 us); only a slice of it is ever
seen.
"""


def _exported(memory: Memory) -> Any:
    """A writable buffer over exactly the bytes of a block, which it keeps."""
    array: Any = _Everything.from_address(memory.address)
    array.memory = memory
    return memoryview(array)[: memory.nbytes]


large_blocks = LargePool()
small_blocks = SmallPool(large_blocks)
_free = small_blocks.free


def statistics() -> Statistics:
    """What the pool holds and has done since the process began."""
    mapped = large_blocks.mapped
    pooled = large_blocks.pooled + large_blocks.on_shelves() + small_blocks.pooled()
    return Statistics(mapped, pooled, max(large_blocks.peak, 0), _allocations())


def trim() -> None:
    """Give everything that waits in the pool back to the system."""
    large_blocks.trim()
    small_blocks.trim()


os.register_at_fork(after_in_child=large_blocks.after_fork)


if native is not None:

    def _block(nbytes: int) -> Memory:
        """As `allocate`, for the native core, where no small block is free."""
        block: Any
        if nbytes > SMALL:
            address, size = large_blocks.take(nbytes)
            block = native.block(address, nbytes, large_blocks.give_back, size)
        else:
            block = native.block(small_blocks.cut(nbytes), nbytes, _free[(nbytes + 63) >> 6])
        return block  # type: ignore[no-any-return]

    MOST_ON_SHELVES = 8 << 20
    """Bytes of medium blocks that wait in the core, at most."""

    native.set_pool(_free, SMALL, _block, _exported, large_blocks.give_back)
    large_blocks.shelves, large_blocks.waiting = native.shelves, native.waiting_blocks

    def _options_changed(old: Options | None, new: Options) -> None:
        if old is None or old.memory_limit != new.memory_limit:
            large_blocks.clear_shelves(MOST_ON_SHELVES if new.memory_limit is None else 0)
            if new.memory_limit is not None:
                large_blocks.trim(new.memory_limit)

    watchers.append(_options_changed)
    _options_changed(None, current())
    allocate: Callable[[int], Memory] = native.allocate
    _allocations: Callable[[], int] = native.allocations
else:
    from fusewright.base.interruptions import outlasting

    _handed_out = 0

    class _Exported(Memory):
        """A block whose `owner` is made when somebody asks: most results only kernels read."""

        __slots__ = ()

        @property
        def owner(self) -> Any:
            """A writable buffer over exactly these bytes, which it keeps."""
            return _exported(self)

        @owner.setter
        def owner(self, value: Any) -> None:
            raise AttributeError("a pooled block has no other owner")

    class _Small(_Exported):
        __slots__ = ("_free",)

        def __init__(self, address: int, nbytes: int, free: list[int]) -> None:
            self.address = address
            self.nbytes = nbytes
            self.external = False
            self.writable = True
            self._free = free

        def __del__(self) -> None:
            self._free.append(self.address)

    class _Large(_Exported):
        __slots__ = ("_size", "_pool")

        def __init__(self, address: int, nbytes: int, size: int, pool: LargePool) -> None:
            self.address = address
            self.nbytes = nbytes
            self.external = False
            self.writable = True
            self._size = size
            self._pool = pool

        @outlasting
        def __del__(self) -> None:
            self._pool.give_back(self.address, self._size)

    def allocate(nbytes: int) -> Memory:
        """A block of `nbytes` aligned to 64, with whatever it held before; raises `OutOfMemory`."""
        global _handed_out
        _handed_out += 1
        if nbytes > SMALL:
            address, size = large_blocks.take(nbytes)
            return _Large(address, nbytes, size, large_blocks)
        free = _free[(nbytes + 63) >> 6]
        try:
            return _Small(free.pop(), nbytes, free)
        except IndexError:
            return _Small(small_blocks.cut(nbytes), nbytes, free)

    def _allocations() -> int:
        return _handed_out

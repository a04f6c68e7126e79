"""Pages from the operating system, by address: what Python's `mmap` objects cannot do (protect,
align, outlive exit).

Memory of a thread pool or of running code must not go when the interpreter takes its modules down,
so nothing here frees by itself.
"""

from __future__ import annotations

import ctypes
import mmap
import os

PAGE = mmap.PAGESIZE
HUGE_PAGE = 2 << 20

_libc = ctypes.CDLL(None, use_errno=True)
_mmap = _libc.mmap
_mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_mmap.restype = ctypes.c_void_p
unmap = _libc.munmap
unmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_mprotect = _libc.mprotect
_mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_madvise = _libc.madvise
_madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

_MAP_FAILED = ctypes.c_void_p(-1).value
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE
_READ_EXECUTE = mmap.PROT_READ | mmap.PROT_EXEC
_DONTNEED = getattr(mmap, "MADV_DONTNEED", 4)
_HUGE = getattr(mmap, "MADV_HUGEPAGE", 14)


def whole_pages(nbytes: int) -> int:
    """`nbytes` rounded up to pages."""
    return -(-nbytes // PAGE) * PAGE


def map_pages(nbytes: int, alignment: int = PAGE) -> int:
    """Zeroed private pages; raises `OSError` where there are none.  Free them with `unmap(address,
    nbytes)`.
    """
    spare = alignment if alignment > PAGE else 0
    start: int | None = _mmap(None, nbytes + spare, _READ_WRITE, _FLAGS, -1, 0)
    if start is None or start == _MAP_FAILED:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    address = -(-start // alignment) * alignment
    if address > start:
        unmap(start, address - start)
    if start + spare > address:
        unmap(address + nbytes, start + spare - address)
    return address


def advise_huge(address: int, nbytes: int) -> None:
    """Ask for huge pages.  Advice only: a system without them refuses, and small ones do."""
    _madvise(address, nbytes, _HUGE)


def forget(address: int, nbytes: int) -> None:
    """Let go pages that hold what their file holds; they come back when they are read."""
    _madvise(address, nbytes, _DONTNEED)


def make_executable(address: int, nbytes: int) -> None:
    """Read and execute, no longer write; raises `OSError` where the system forbids it."""
    if _mprotect(address, nbytes, _READ_EXECUTE):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))

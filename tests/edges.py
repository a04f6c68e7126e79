"""Arrays that begin or end where memory does: who reads or writes one byte beside is killed."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


def at_the_edge(values: Array, end: bool) -> Array:
    """A copy of them in memory of its own: after its last byte, or before its first, is none."""
    pages = -(-values.nbytes // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (0, pages + 1):
        if _libc.mprotect(ctypes.c_void_p(address + page * PAGE), PAGE, 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    offset = PAGE + (pages * PAGE - values.nbytes) * end
    made: Array = np.ndarray(values.shape, values.dtype, memory, offset)
    made[...] = values
    return made


def is_at_the_edge(values: Array) -> bool:
    """Whether an array was made here."""
    return isinstance(values.base, mmap.mmap)


def beside_the_edge(values: Array) -> Array:
    """A copy at the same end of memory of its own."""
    return at_the_edge(values, (values.ctypes.data + values.nbytes) % PAGE == 0)

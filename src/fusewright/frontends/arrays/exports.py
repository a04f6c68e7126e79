"""Every way out of an array's memory, and whether what goes out can be written.

Code that *asks* for writable memory gets it, as from NumPy's arrays: typed memoryviews of Cython,
`readinto`, DLPack, `x.data`, `x.view(np.ndarray)`.  Code that converts a foreign object
(`np.asarray(x)`, `PyArray_FromAny`) believes that what it gets is its own copy, and some of it
writes there (f2py).  It asks for memory to read, and gets memory that cannot be written: then such
code copies.

All of these are loans (`sharing.lend`): while one is held, statements are complete when they
return.  A bare address is held by nobody, so the array itself holds the loan from then on.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from fusewright._core import native
from fusewright.base.later import later
from fusewright.frontends.arrays import core, sharing, views
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.sharing import NDArray

if TYPE_CHECKING:
    from fusewright.base import interruptions
else:
    interruptions = later("fusewright.base.interruptions")


def writable(handle: Handle) -> NDArray:
    """NumPy's array on the handle's memory: what either writes the other sees."""
    return _lent(handle, True)


def readable(handle: Handle) -> NDArray:
    """The same for reading: it sees our writes and has none of its own."""
    return _lent(handle, False)


def _lent(handle: Handle, writes: bool) -> NDArray:
    if not isinstance(handle, core.scalar_class):
        return sharing.lend(handle, views.root_of(handle), writes)
    number = sharing.content(handle)  # a number is nobody's memory: a copy
    return np.array(number) if writes else np.frombuffer(number.tobytes(), number.dtype).reshape(())


def buffer(handle: Handle, writes: bool) -> NDArray:
    """What answers a request for the handle's buffer."""
    return _lent(handle, writes)


_pinned: dict[int, tuple[weakref.ref[Handle], NDArray]] = {}
"""By the identity of a root: its memory as NumPy's array, kept until the root dies."""


def pinned(handle: Handle) -> NDArray:
    """NumPy's array on memory that stays where it is as long as the handle lives: for addresses."""
    root = views.root_of(handle)
    key = id(root)
    if key not in _pinned:
        gone = weakref.ref(root, interruptions.outlasting(lambda _: _pinned.pop(key, None)))
        _pinned[key] = gone, writable(root)
    if isinstance(root, core.scalar_class):
        return _pinned[key][1]
    return writable(handle)


if native is not None:
    native.set_export(buffer)

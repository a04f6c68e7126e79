"""`numpy.ctypeslib`: NumPy's bridge to ctypes; C code gets our memory, and may write there."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.frontends.arrays import exports
from fusewright.frontends.arrays.core import Handle
from fusewright.numpy.modules import lookup

_pointers: dict[type, type] = {}


def ndpointer(*args: Any, **kwargs: Any) -> Any:
    """NumPy's type of pointer arguments, for arrays of ours as well."""
    base = np.ctypeslib.ndpointer(*args, **kwargs)
    if base not in _pointers:

        def from_param(cls: Any, value: Any) -> Any:
            plain = exports.pinned(value) if isinstance(value, Handle) else value
            return base.from_param.__func__(cls, plain)

        _pointers[base] = type(base.__name__, (base,), {"from_param": classmethod(from_param)})
    return _pointers[base]


def as_ctypes(obj: Any) -> Any:
    """A ctypes object on an array's memory."""
    return np.ctypeslib.as_ctypes(exports.writable(obj) if isinstance(obj, Handle) else obj)


EXPORTS: dict[str, Any] = {"ndpointer": ndpointer, "as_ctypes": as_ctypes}
__getattr__ = lookup("ctypeslib", EXPORTS)

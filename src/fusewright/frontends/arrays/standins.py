"""What NumPy is asked with in the place of operands, which need not be computed for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusewright.frontends.arrays import core, sharing
from fusewright.frontends.arrays.core import Handle

LOOKED_THROUGH = 1 << 20
"""Elements of an array that NumPy may look at, or copy, before it refuses it."""


class Standins:
    """Small arrays in the place of the operands: what broadcasts still does, what does not still
    does not.
    """

    __slots__ = ("_extents", "_known")

    def __init__(self) -> None:
        self._extents: dict[int, int] = {0: 0, 1: 1}
        self._known: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, core.Handle | np.ndarray):
            found = self._known.get(id(value))
            if found is None:
                found = self._known[id(value)] = self._made(value)
            return found
        if type(value) is tuple or type(value) is list:
            return type(value)(map(self, value))
        return value

    def _made(self, value: Any) -> Any:
        made = self._array(value.shape, value.dtype)
        if type(value) is core.scalar_class:
            return made[()]
        ours = isinstance(value, Handle)
        if value._flags & core.READ_ONLY if ours else not sharing.is_writable(value):
            made.flags.writeable = False
        return made if ours else made.view(type(value))  # masked ones and matrices, too

    def _extent(self, extent: int) -> int:
        return self._extents.setdefault(extent, len(self._extents))

    def _array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.ones(tuple(map(self._extent, shape)), dtype)


class TooLarge(Exception):
    """A stand-in of the operand's own shape would take too long to look at."""


class Shapes(Standins):
    """Arrays of the operands' own shapes, for a call that will be refused: one element each."""

    __slots__ = ()

    def _array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if math.prod(shape) > LOOKED_THROUGH:
            raise TooLarge
        one = np.ones((), dtype)
        return np.lib.stride_tricks.as_strided(one, shape, (0,) * len(shape), writeable=True)

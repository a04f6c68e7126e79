"""Lazy numbers: what a full reduction or a full index gives.  Immutable and hashable, like
NumPy's scalars.
"""

from __future__ import annotations

from typing import Any

from fusewright.frontends.arrays import inplace, operators, sharing
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.operators import Operators
from fusewright.ir.dtypes import BOOL


class ScalarOperations(Handle):
    """What differs between a number and an array without dims."""

    __slots__ = ()

    __iadd__, __isub__, __imul__ = Operators.__add__, Operators.__sub__, Operators.__mul__
    __itruediv__, __ifloordiv__ = Operators.__truediv__, Operators.__floordiv__
    __imod__, __iand__ = Operators.__mod__, Operators.__and__
    __ior__, __ixor__ = Operators.__or__, Operators.__xor__
    __ilshift__, __irshift__ = Operators.__lshift__, Operators.__rshift__

    def __pow__(self, exponent: Any) -> Any:
        # NumPy squares boolean arrays, and raises boolean scalars to a power.
        if self._dtype is BOOL:
            return operators.general_power(self, exponent)
        return operators.power(self, exponent)

    __ipow__ = __pow__
    __len__ = __iter__ = __contains__ = None
    """NumPy's numbers have none of these (the core hides them from `hasattr`, too)."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """NumPy's scalar class: `isinstance(x, np.floating)` and `isinstance(x, float)` hold."""
        return self._node.dtype.numpy.type

    def __hash__(self) -> int:
        return hash(sharing.content(self).item())

    def __setitem__(self, key: Any, value: Any) -> None:
        inplace.check_writable(self)

    def __round__(self, ndigits: int | None = None) -> Any:
        number: Any = sharing.content(self)[()]
        return round(number, ndigits)

    def __trunc__(self) -> int:
        return int(sharing.content(self).item())

    def __floor__(self) -> int:
        return int(sharing.content(self).item() // 1)

    def __ceil__(self) -> int:
        return -int(-sharing.content(self).item() // 1)

    def __repr__(self) -> str:
        return repr(sharing.content(self)[()])

    def __str__(self) -> str:
        return str(sharing.content(self)[()])

    def __getattr__(self, name: str) -> Any:
        """What else NumPy's scalars of this type have: `hex`, `is_integer`, `bit_count`, ..."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(sharing.content(self)[()], name)

"""Names that stand in annotations: `pk.View1D[pk.double]`, `pk.Acc[T]`, `pk.ScratchView1D[T]`."""

from __future__ import annotations

import math
from typing import Any, Generic, TypeVar

import numpy as np

from fusewright.bridges.pykokkos import scalars

T = TypeVar("T")


class ScratchView:
    """Memory of a team, alive while the team runs."""

    _itemsize = 8

    @classmethod
    def __class_getitem__(cls, item: Any) -> Any:
        kind = np.dtype(scalars.type_of(item).np_equiv)
        return type(cls.__name__, (cls,), {"_itemsize": kind.itemsize})

    @classmethod
    def shmem_size(cls, *extents: int) -> int:
        """Bytes that a view of these extents takes."""
        return math.prod(extents) * cls._itemsize


class Acc(Generic[T]):
    """An annotation: the accumulator of a reduction or scan."""


class View1D(Generic[T]):
    """An annotation: a view of rank 1."""


class View2D(Generic[T]):
    """An annotation: a view of rank 2."""


class View3D(Generic[T]):
    """An annotation: a view of rank 3."""


class View4D(Generic[T]):
    """An annotation: a view of rank 4."""


class View5D(Generic[T]):
    """An annotation: a view of rank 5."""


class View6D(Generic[T]):
    """An annotation: a view of rank 6."""


class View7D(Generic[T]):
    """An annotation: a view of rank 7."""


class View8D(Generic[T]):
    """An annotation: a view of rank 8."""


class ScratchView1D(ScratchView):
    """Scratch memory of rank 1."""


class ScratchView2D(ScratchView):
    """Scratch memory of rank 2."""


class ScratchView3D(ScratchView):
    """Scratch memory of rank 3."""


class ScratchView4D(ScratchView):
    """Scratch memory of rank 4."""


class ScratchView5D(ScratchView):
    """Scratch memory of rank 5."""


class ScratchView6D(ScratchView):
    """Scratch memory of rank 6."""


class ScratchView7D(ScratchView):
    """Scratch memory of rank 7."""


class ScratchView8D(ScratchView):
    """Scratch memory of rank 8."""

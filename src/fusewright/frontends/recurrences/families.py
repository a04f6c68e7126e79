"""What a user writes: families of values, linear maps of them by numbers, sums along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fusewright.base.errors import RecurrenceError, RecurrenceMapError
from fusewright.ir.fused import Array

Index = tuple[Any, ...]
"""One component for each name in `index`; a component is an integer, a string, or a tuple."""
Coefficient = Any
"""A number, the name of a scalar, or a tuple of such: their product."""
Term = Any
"""A tuple of a coefficient, a family (itself, or its name) and an index."""
Leaf = str | float | None


def _no_leaf(*_index: Any) -> Leaf:
    return None


def _named(name: str) -> None:
    if not isinstance(name, str) or not name or any(c.isspace() for c in name):
        raise RecurrenceError(
            f"a family's name is text without spaces, not {name!r}",
            help="give it a short name: messages and `explain()` speak of it",
        )


@dataclass(frozen=True, eq=False)
class Family:
    """Values by index, each a leaf or, by any one of several alternatives, a linear combination.

    `name` stands in messages.  `index` names the components of an index, such as `("a", "m")`.
    `alternatives(*index)` gives a list of alternatives, each a list of terms (coefficient, family,
    index).  A coefficient is a number, the name of a scalar, or a tuple of such, which is their
    product; a family is a `Family`, `LinearMap`, `Accumulate`, or the name of one; an index of one
    component need not be a tuple.  All alternatives must have one mathematical value: which is
    taken is the planner's choice.

    `leaf(*index)` gives the name of a row of input, a number, or None where the value is no leaf;
    a leaf's alternatives are not asked for.

    Raises `RecurrenceError` for a name with spaces.
    """

    name: str
    index: Sequence[str]
    alternatives: Callable[..., Iterable[Iterable[Term]]]
    leaf: Callable[..., Leaf] = field(default=_no_leaf)

    def __post_init__(self) -> None:
        _named(self.name)
        names = (self.index,) if isinstance(self.index, str) else tuple(self.index)
        object.__setattr__(self, "index", names)


@dataclass(frozen=True, eq=False)
class LinearMap:
    """`value[..., r, ...] = sum over c of matrix[r, c] * of[..., columns[c], ...]`, the component
    number `axis` of the index being mapped.

    `matrix` has the shape (values, columns) and finite entries; entries of 0 cost nothing.
    `columns` are the components that the columns stand for, 0 to n - 1 if left out.

    Raises `RecurrenceMapError`, a `ValueError`, where shapes do not fit or an entry is not finite.
    """

    name: str
    of: Any
    matrix: Any
    axis: int
    columns: Sequence[Any] = ()

    def __post_init__(self) -> None:
        _named(self.name)
        matrix: Array = np.array(self.matrix, np.float64)
        columns = tuple(self.columns) or tuple(range(matrix.shape[-1] if matrix.ndim else 0))
        if matrix.ndim != 2 or matrix.shape[1] != len(columns):
            raise RecurrenceMapError(
                f"the matrix of `{self.name}` has the shape {matrix.shape}, "
                f"and {len(columns)} columns are named",
                why="a map has one row for each of its values and one column for each it reads",
            )
        if not np.isfinite(matrix).all():
            raise RecurrenceMapError(f"the matrix of `{self.name}` has entries that are not finite")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "columns", columns)


@dataclass(frozen=True, eq=False)
class Accumulate:
    """The values of family `of`, summed along an axis of the input: `over` names it.

    Whatever `of` reads has that axis in front of its columns, such as the pairs of primitives that
    an integral is contracted over.  One graph sums along one axis, and sums no sums.
    """

    name: str
    of: Any
    over: str

    def __post_init__(self) -> None:
        _named(self.name)
        _named(self.over)


AnyFamily = Family | LinearMap | Accumulate
FAMILIES = (Family, LinearMap, Accumulate)

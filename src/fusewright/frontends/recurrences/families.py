"""What a user writes: families of values, linear maps of them by numbers, sums along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusewright.base.errors import RecurrenceError, RecurrenceMapError
from fusewright.ir.fused import Array

Index = tuple[Any, ...]
"""One component for each name in `index`; a component is an integer, a string, or a tuple."""
Coefficient = Any
"""A number, the name of a scalar, or a tuple of such: their product."""
Term = tuple[Coefficient, Any, Any]
"""A coefficient, a family (itself, or its name) and an index."""
Leaf = str | float | None


def _no_leaf(*_index: Any) -> Leaf:
    return None


def _fill(family: object, **fields: Any) -> None:
    """Set the fields of a frozen object.  An `__init__` of its own, unlike a generated one, has
    the user's line as its caller.
    """
    for name, value in fields.items():
        object.__setattr__(family, name, value)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name) and not any(c.isspace() for c in name)


def _matrix(name: str, matrix: Any) -> Array:
    """A copy in float64."""
    try:
        table = np.array(matrix)
    except ValueError as error:  # rows of different lengths
        raise RecurrenceMapError(
            f"the matrix of `{name}` is no array: {str(error).partition('. ')[0]}"
        ) from error
    if table.size and table.dtype.kind not in "biuf":
        raise RecurrenceMapError(
            f"the matrix of `{name}` has entries of type {table.dtype}, not real numbers"
        )
    return table.astype(np.float64)


def _named(name: str) -> None:
    if not _is_name(name):
        raise RecurrenceError(
            f"the name of a family or an axis is text without spaces, not {name!r}",
            help="give it a short name: messages and `explain()` speak of it",
        )


@dataclass(frozen=True, eq=False, init=False)
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

    Raises:
        FusewrightError: for a name that is empty or has spaces (FW300).

    Examples:
        Powers of a scalar, by two alternatives of which the planner takes one:

        >>> import fusewright as fw
        >>> def alternatives(n):
        ...     return [[("x", "power", n - 1)], [(("x", "x"), "power", n - 2)]]
        >>> def leaf(n):
        ...     return 1.0 if n == 0 else "first" if n == 1 else None
        >>> power = fw.Family("power", "n", alternatives, leaf)
        >>> compiled = fw.recurrence([(power, 5)], power, scalars=["x"]).compile()
        >>> compiled({"x": 2.0}, {"first": [2.0, 2.0]}).tolist()
        [[32.0, 32.0]]
    """

    name: str
    index: tuple[str, ...]
    alternatives: Callable[..., Iterable[Iterable[Term]]]
    leaf: Callable[..., Leaf]

    def __init__(
        self,
        name: str,
        index: str | Sequence[str],
        alternatives: Callable[..., Iterable[Iterable[Term]]],
        leaf: Callable[..., Leaf] = _no_leaf,
    ) -> None:
        _named(name)
        names = (index,) if isinstance(index, str) else index
        if not isinstance(names, Sequence) or not names or not all(map(_is_name, names)):
            raise RecurrenceError(
                f"the index of `{name}` has the components {index!r}",
                why="each component of an index has a name: messages speak of it",
                help='give the names as a tuple, ("a", "m"), or one name',
            )
        for function in (alternatives, leaf):
            if not callable(function):
                raise RecurrenceError(
                    f"`{name}` has {function!r} in place of a function",
                    why="alternatives and leaf are functions of the components of an index",
                )
        names = tuple(names)
        _fill(self, name=name, index=names, alternatives=alternatives, leaf=leaf)


@dataclass(frozen=True, eq=False, init=False)
class LinearMap:
    """`value[..., r, ...] = sum over c of matrix[r, c] * of[..., columns[c], ...]`, the component
    number `axis` of the index being mapped.

    `matrix` has the shape (values, columns) and finite entries; entries of 0 cost nothing.
    `columns` are the components that the columns stand for, 0 to n - 1 if left out.

    Raises:
        FusewrightError: where shapes do not fit or an entry is not finite (FW304, a `ValueError`).

    Examples:
        Sum and difference of the values 0 and 1:

        >>> import fusewright as fw
        >>> pair = fw.Family("pair", "n", lambda n: [], leaf=lambda n: f"p{n}")
        >>> turned = fw.LinearMap("turned", pair, [[1.0, 1.0], [1.0, -1.0]], axis=0)
        >>> graph = fw.recurrence([(turned, 0), (turned, 1)], [pair, turned])
        >>> graph.compile()({}, {"p0": [5.0], "p1": [3.0]}).tolist()
        [[8.0], [2.0]]
    """

    name: str
    of: AnyFamily | str
    matrix: Array
    axis: int
    columns: tuple[Any, ...]

    def __init__(
        self, name: str, of: AnyFamily | str, matrix: Any, axis: int, columns: Sequence[Any] = ()
    ) -> None:
        _named(name)
        table = _matrix(name, matrix)
        if not isinstance(axis, int | np.integer) or isinstance(axis, bool):
            raise RecurrenceMapError(f"the axis of `{name}` is {axis!r}, not an integer")
        if not isinstance(columns, Iterable):
            raise RecurrenceMapError(f"the columns of `{name}` are {columns!r}, not a sequence")
        names = tuple(columns) or tuple(range(table.shape[-1] if table.ndim else 0))
        if table.ndim != 2 or table.shape[1] != len(names):
            raise RecurrenceMapError(
                f"the matrix of `{name}` has the shape {table.shape}, "
                f"and {len(names)} columns are named",
                why="a map has one row for each of its values and one column for each it reads",
            )
        if not np.isfinite(table).all():
            raise RecurrenceMapError(f"the matrix of `{name}` has entries that are not finite")
        table.flags.writeable = False
        _fill(self, name=name, of=of, matrix=table, axis=int(axis), columns=names)


@dataclass(frozen=True, eq=False, init=False)
class Accumulate:
    """The values of family `of`, summed along an axis of the input: `over` names it.

    Whatever `of` reads has that axis in front of its columns, such as the pairs of primitives that
    an integral is contracted over.  One graph sums along one axis, and sums no sums.

    Raises:
        FusewrightError: for a name that is empty or has spaces (FW300).

    Examples:
        Two columns, each the sum of three places:

        >>> import fusewright as fw
        >>> term = fw.Family("term", "n", lambda n: [], leaf=lambda n: "t")
        >>> total = fw.Accumulate("total", term, "places")
        >>> graph = fw.recurrence([(total, 0)], [term, total])
        >>> graph.compile()({}, {"t": [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]}).tolist()
        [[6.0, 60.0]]
    """

    name: str
    of: AnyFamily | str
    over: str

    def __init__(self, name: str, of: AnyFamily | str, over: str) -> None:
        _named(name)
        _named(over)
        _fill(self, name=name, of=of, over=over)


AnyFamily = Family | LinearMap | Accumulate
FAMILIES = (Family, LinearMap, Accumulate)

"""Coefficients: products of numbers and of scalars that are given at run time, or fixed here."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from fusewright.base.errors import RecurrenceScalarError
from fusewright.base.meant import did_you_mean
from fusewright.frontends.recurrences.refusals import Key, line_of, spelled

Factor = tuple[float, tuple[int, ...]]
"""A number, and the numbers of the scalars that it is multiplied by, in rising order."""


class Coefficients:
    """The scalars of a graph; `scalars` gives each of those that run time gives its number."""

    def __init__(self, scalars: Iterable[str] | Mapping[str, float | None]) -> None:
        if isinstance(scalars, str):
            scalars = (scalars,)
        values = dict(scalars) if isinstance(scalars, Mapping) else dict.fromkeys(scalars)
        for name, value in values.items():
            if not isinstance(name, str) or not name or any(c.isspace() for c in name):
                raise RecurrenceScalarError(f"a scalar's name is text without spaces, not {name!r}")
            if value is not None and not is_finite(value):
                raise RecurrenceScalarError(f"the scalar `{name}` is {value!r}, no finite number")
        self.fixed = {name: float(value) for name, value in values.items() if value is not None}
        given = (name for name in values if name not in self.fixed)
        self.scalars = {name: number for number, name in enumerate(given)}
        self._factors: dict[Any, Factor] = {}

    def factor(self, coefficient: Any, reader: Key, relation: Any) -> Factor:
        """A coefficient in a term of `reader`, which the function `relation` has given; 0.0 without
        scalars where it is identically zero.
        """
        try:
            found = self._factors.get(coefficient)
        except TypeError:  # what cannot be hashed is no coefficient: said below
            found = None
        if found is None:
            found = self._product(coefficient, reader, relation)
            self._factors[coefficient] = found
        return found

    def _product(self, coefficient: Any, reader: Key, relation: Any) -> Factor:
        number, scalars = 1.0, []
        for part in coefficient if isinstance(coefficient, tuple) else (coefficient,):
            if is_finite(part):
                number *= float(part)
            elif not isinstance(part, str):
                raise RecurrenceScalarError(
                    f"`{spelled(reader)}` is multiplied by {part!r}",
                    line_of(relation),
                    why="a coefficient is a finite number, a scalar's name, or a tuple of such",
                )
            elif part in self.scalars:
                scalars.append(self.scalars[part])
            elif part in self.fixed:
                number *= self.fixed[part]
            else:
                raise RecurrenceScalarError(
                    f"`{spelled(reader)}` is multiplied by `{part}`, which is no scalar",
                    line_of(relation),
                    help=did_you_mean(part, [*self.scalars, *self.fixed]) or "add it to `scalars`",
                )
        if not is_finite(number):
            raise RecurrenceScalarError(
                f"`{spelled(reader)}` is multiplied by {coefficient!r}, which is {number}",
                line_of(relation),
            )
        return (number, tuple(sorted(scalars))) if number else (0.0, ())


def is_finite(number: Any) -> bool:
    """Whether this is a real number that a float64 can hold, neither infinite nor nan."""
    try:
        return isinstance(number, numbers.Real) and math.isfinite(number)
    except OverflowError:  # an int beyond all floats
        return False

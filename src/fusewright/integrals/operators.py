"""Operators between two electrons: 1/r, erf(w r)/r, erfc(w r)/r, and mixtures of the first two."""

from __future__ import annotations

import math
from numbers import Real

from fusewright.base.errors import ArgumentError, ValueRangeError
from fusewright.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Operator:
    """full/r + long erf(w r)/r; w in bohr^-1.

    `Operator()` is 1/r, `Operator(0, 1, w)` its long range, `Operator(1, -1, w)` the short one.
    """

    full: float = 1.0
    long: float = 0.0
    w: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.full, self.long, self.w)
        for each in numbers:
            if not isinstance(each, Real):
                raise ArgumentError(f"an operator is made of numbers, not of {each!r}")
        if not all(map(math.isfinite, numbers)) or self.w < 0:
            raise ValueRangeError(
                f"the operator {self.full}/r + {self.long} erf({self.w} r)/r makes no sense",
                help="the numbers are finite, and w is not negative",
            )

    @property
    def parts(self) -> tuple[bool, ...]:
        """Whether each part is attenuated."""
        if not self.long or not self.w:
            return (False,)
        return (False, True) if self.full else (True,)

    @property
    def weights(self) -> tuple[float, ...]:
        """That of each part."""
        weights = {False: self.full, True: self.long}
        return tuple(weights[part] for part in self.parts)


COULOMB = Operator()


def long_range(w: float) -> Operator:
    """erf(w r)/r."""
    return Operator(0.0, 1.0, w)


def short_range(w: float) -> Operator:
    """erfc(w r)/r."""
    return Operator(1.0, -1.0, w)

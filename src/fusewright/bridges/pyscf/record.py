"""What was evaluated for one object, by whom, and why not by us."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from fusewright.base.values import dataclass
from fusewright.integrals.basis import LETTERS
from fusewright.integrals.classes import Momenta
from fusewright.integrals.fock import Fock
from fusewright.ir.fused import Array

OURS = "fusewright"
THEIRS = "PySCF"
IN_CORE = "integrals in memory"
JK = "J and K"
AHEAD = "K of the other range, in the same pass"


class PassedOn(Exception):
    """PySCF does it; the text says why, where it is asked for."""

    def __init__(self, why: str | Callable[[], str]) -> None:
        super().__init__(why)
        self.why = why

    def __str__(self) -> str:
        return self.why if isinstance(self.why, str) else self.why()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A class of integrals or a whole step; `why` is empty for what was ours."""

    what: str
    by: str
    why: str = ""


@dataclass(slots=True)
class Geometry:
    """What J and K of one molecule need; whether all its integrals are rather kept in memory, where
    they fit, None before that was asked.
    """

    fock: Fock
    in_memory: bool | None = None


@dataclass(slots=True)
class Expected:
    """K with `omega` will be asked for, of one of these density matrices (or stacks of them);
    `exchange` has which one, and K, once that is made.
    """

    omega: float
    densities: tuple[Array, ...]
    exchange: tuple[Array, Array] | None = None


@dataclass(slots=True)
class IntegralRecord:
    """Counts (quartets of a class, calls of a step) and seconds of each item.

    The seconds of one class are known where all its integrals were made in memory.  `geometries`
    has what J and K need of the last ones, by molecule and operators.  `depth` is how many methods
    are running that ask whether integrals are in memory, in order to go on without: within
    `with record` that answer is as it is.
    """

    counts: dict[Evaluated, int] = field(default_factory=dict)
    seconds: dict[Evaluated, float] = field(default_factory=dict)
    geometries: dict[Any, Geometry] = field(default_factory=dict)
    expected: Expected | None = None
    depth: int = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *reason: object) -> None:
        self.depth -= 1

    def add(self, item: Evaluated, count: int, seconds: float | None = None) -> None:
        """Add to an item."""
        self.counts[item] = self.counts.get(item, 0) + count
        if seconds is not None:
            self.seconds[item] = self.seconds.get(item, 0.0) + seconds

    def add_classes(self, classes: dict[Momenta, int], by: str, why: str) -> None:
        """Add classes whose times are not known apart."""
        for momenta, many in classes.items():
            self.add(Evaluated(class_name(momenta), by, why), many)


def class_name(momenta: Momenta) -> str:
    """`(dp|ss)`."""
    a, b, c, d = (LETTERS[momentum] for momentum in momenta)
    return f"({a}{b}|{c}{d})"

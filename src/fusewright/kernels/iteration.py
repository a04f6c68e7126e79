"""Where statements stand that are raised: the loops around them, what variables hold there, where
buffers lie.
"""

from __future__ import annotations

from dataclasses import field

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.loops.statements import NOWHERE
from fusewright.kernels.places import Form

Shape = tuple[int, ...]
Places = tuple[tuple[int, int, int], ...]


class NotRaised(Exception):
    """Why a kernel is no sequence of array statements, and which line says so."""

    def __init__(self, why: str, span: Span = NOWHERE) -> None:
        super().__init__(why)
        self.why, self.span = why, span


@dataclass(frozen=True, slots=True)
class Part:
    """Where a buffer lies: a slice of an array of the call (`places` as of a VIEW)."""

    array: int
    places: Places
    shape: Shape


@dataclass(slots=True)
class Loops:
    """The loops around a statement, outermost first: for each variable its range; the mask under
    which the statement runs.
    """

    box: dict[int, tuple[int, int]] = field(default_factory=dict)
    mask: int | None = None

    @property
    def shape(self) -> Shape:
        return tuple(count for _, count in self.box.values())


@dataclass(frozen=True, slots=True)
class Variable:
    """What a variable holds: a value over the loops around its assignment, an index, or both."""

    value: int | None
    form: Form | None

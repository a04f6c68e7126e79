"""What pending calls that run in turn have in common with all calls made in the same turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from fusewright._core import native
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import PART, Node
from fusewright.kernels.binding import Place
from fusewright.kernels.specialise import Specialised

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a group: its buffers' numbers in the group, its scalars, and which of the group's
    operands hold those that are lazy.
    """

    kernel: KernelData | None
    found: Specialised
    buffers: dict[int, int]
    scalars: tuple[int, ...]
    lazy: dict[int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """What an array of a group holds at first: an operand, or one number everywhere; `overwritten`
    says that nobody reads that before it is gone.
    """

    operand: int
    value: Any
    dtype: DType
    shape: tuple[int, ...]
    overwritten: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Something a call gives: the number of the output, and the array of the call (its number) that
    holds it from then on, or the buffer of a result.
    """

    output: int
    number: int
    is_result: bool
    dtype: DType
    shape: tuple[int, ...]


class Plain:
    """What stands below a class that has no native form here."""

    __slots__ = ()


_ShapeBase: Any = Plain if native is None else native.Shape


@dataclass(frozen=True, slots=True, eq=False)
class Shape(_ShapeBase):  # type: ignore[misc]
    """`buffers` are parts of the arrays, or results (None).  Run, it gives what `outputs` says:
    each is an array (its number) with what it holds in the end, or a buffer; `latest` are the
    arrays' outputs as of now.  `after` are the shapes that one more call leads to, `compiled` the
    sets of dead arrays that the native core has code for.
    """

    arrays: tuple[Source, ...] = ()
    buffers: tuple[Place | None, ...] = ()
    dtypes: tuple[DType, ...] = ()
    calls: tuple[Call, ...] = ()
    outputs: tuple[tuple[str, int], ...] = ()
    latest: Mapping[int, int] = field(default_factory=dict)
    after: dict[Any, tuple[Shape, tuple[Part, ...]]] = field(default_factory=dict)
    compiled: set[int] = field(default_factory=set)
    forgettable: int = 0
    """The arrays (bits) that may be dead: what they held before is not needed, all of each is one
    buffer.
    """
    keeps: bool = False
    """Whether nothing it reads is overwritten: then it can run again."""
    is_open: bool = True
    """Whether one more call may join."""

    def number_of(self, node: Node, whole: Node, operands: Sequence[Node]) -> int:
        """The array that a value is, if it is what that array holds now; else -1."""
        if node.kind == PART and node.args[0] is whole:
            kind, number = self.outputs[node.attr]
            return number if kind == "array" and self.latest[number] == node.attr else -1
        for number, source in enumerate(self.arrays):
            if source.operand >= 0 and operands[source.operand] is node:
                return number if number not in self.latest else -1
        return -1

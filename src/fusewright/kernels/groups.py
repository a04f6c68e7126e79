"""Pending calls of kernels as one value: what they have in common with all calls made in the same
turn (`Shape`, made once), and what is their own (`Group`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.options import Options, current
from fusewright.ir.dtypes import FLOAT64, INT64, DType
from fusewright.ir.graph import PART, InPlace, Node
from fusewright.ir.loops.statements import Kernel as Loops
from fusewright.kernels import units
from fusewright.kernels.binding import Place
from fusewright.kernels.door import Door, Given, door_to
from fusewright.kernels.specialise import Specialised
from fusewright.kernels.units import Unit

if TYPE_CHECKING:
    from fusewright.codegen.loop_module import LoopWord
    from fusewright.kernels.kernel import Kernel
    from fusewright.targets.cpu.loops import CompiledLoops

NDArray = np.ndarray[Any, Any]
Execute = Callable[[Any, Any, list[NDArray], list[Any]], "CompiledLoops | None"]
MOST_DOORS = 8
"""Settings under which one shape's door is remembered."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a group: its buffers' numbers in the group, its scalars, and which of the group's
    operands hold those that are lazy.
    """

    kernel: Kernel[Any, Any]
    found: Specialised
    buffers: dict[int, int]
    scalars: tuple[int, ...]
    lazy: dict[int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """What an array of a group holds at first: an operand, or one number everywhere."""

    operand: int
    value: Any
    dtype: DType
    shape: tuple[int, ...]


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


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """`buffers` are parts of the arrays, or results (None).  Run, it gives what `outputs` says:
    each is an array (its number) with what it holds in the end, or a buffer; `latest` are the
    arrays' outputs as of now.  `after` are the shapes that one more call leads to, `doors` the
    code.
    """

    arrays: tuple[Source, ...] = ()
    buffers: tuple[Place | None, ...] = ()
    dtypes: tuple[DType, ...] = ()
    calls: tuple[Call, ...] = ()
    outputs: tuple[tuple[str, int], ...] = ()
    latest: Mapping[int, int] = field(default_factory=dict)
    after: dict[Any, tuple[Shape, tuple[Part, ...]]] = field(default_factory=dict)
    doors: dict[int, tuple[Options, Door]] = field(default_factory=dict)

    def number_of(self, node: Node, whole: Node, operands: Sequence[Node]) -> int:
        """The array that a value is, if it is what that array holds now; else -1."""
        if node.kind == PART and node.args[0] is whole:
            kind, number = self.outputs[node.attr]
            return number if kind == "array" and self.latest[number] == node.attr else -1
        for number, source in enumerate(self.arrays):
            if source.operand >= 0 and operands[source.operand] is node:
                return number if number not in self.latest else -1
        return -1


class Group(InPlace):
    """Calls that run in turn, as one kernel where they are several.

    Called with its operands it gives its shape's outputs.  It runs once, whoever asks how often.
    """

    __slots__ = ("execute", "shape", "values", "outcome", "error")

    def __init__(self, execute: Execute, shape: Shape) -> None:
        super().__init__()
        self.execute = execute
        self.shape = shape
        self.values: list[Mapping[int, Any]] = []
        self.outcome: tuple[NDArray, ...] | None = None
        self.error: BaseException | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.shape.calls

    def __call__(self, *operands: NDArray) -> tuple[NDArray, ...]:
        if self.error is not None:  # what it works on may be half done
            raise self.error
        if self.outcome is None:
            try:
                self.outcome = self._run(operands)
            except BaseException as error:
                self.error = error if self.spare else None
                raise
        return self.outcome

    def _run(self, operands: tuple[NDArray, ...]) -> tuple[NDArray, ...]:
        shape = self.shape
        memories = [
            self._memory(number, source, operands) for number, source in enumerate(shape.arrays)
        ]
        buffers = [
            np.empty((), dtype.numpy) if place is None else place.within(memories[place.array])
            for place, dtype in zip(shape.buffers, shape.dtypes, strict=True)
        ]
        values: list[Any] = []
        for call, given in zip(shape.calls, self.values, strict=True):
            for number in call.scalars:
                lazy = call.lazy.get(number)
                if lazy is None:
                    values.append(given[number])
                else:
                    values.append(np.asarray(operands[lazy]).item())
        if not self._by_door(buffers, values):
            self._execute(buffers, values)
        found = {"array": memories, "buffer": buffers}
        return tuple([found[kind][number] for kind, number in shape.outputs])

    def _memory(self, number: int, source: Source, operands: Sequence[NDArray]) -> NDArray:
        if source.operand < 0:
            return np.full(source.shape, source.value, source.dtype.numpy)
        operand = operands[source.operand]
        if number in self.shape.latest:
            same = [other.operand for other in self.shape.arrays].count(source.operand)
            if same > 1 or source.operand not in self.spare:
                return np.array(operand, order="C")
        if operand.flags.c_contiguous:
            return operand
        return np.ascontiguousarray(operand).reshape(operand.shape)

    def _by_door(self, buffers: list[NDArray], values: list[Any]) -> bool:
        """Whether it ran as an earlier group of its shape did."""
        options = current()
        kept, door = self.shape.doors.get(id(options), (None, None))
        if kept is not options or door is None:
            return False
        done = door.run([*buffers, *values])
        if done and len(self.shape.calls) > 1:
            units.note_run()
        return done

    def _execute(self, buffers: list[NDArray], values: list[Any]) -> None:
        shape, unit = self.shape, None
        own = _by_call(shape.calls, values)
        if len(shape.calls) > 1:
            unit = units.unit_of([(call.found, call.buffers) for call in shape.calls], buffers)
        if unit is not None:
            given = [own[member][param] for member, param in unit.joined.scalars]
            params = _parameters(unit.kernel, dict(enumerate(buffers)), given)
            code = self.execute(None, unit, buffers, params)
            self._remember(code, unit, buffers)
            return
        for call, numbers in zip(shape.calls, own, strict=True):
            arrays = {number: buffers[place] for number, place in call.buffers.items()}
            kernel = call.found.kernel
            ordered = [arrays[number] for number in kernel.given]
            params = _parameters(kernel, arrays, numbers)
            code = self.execute(call.kernel, call.found, ordered, params)
            if len(shape.calls) == 1:
                self._remember(code, None, buffers)

    def _remember(
        self, code: CompiledLoops | None, unit: Unit | None, buffers: list[NDArray]
    ) -> None:
        """Let the next group of this shape run at once."""
        shape, options = self.shape, current()
        if code is None or options.verify:
            return
        door = _door(shape, unit, code, buffers)
        if door is not None:
            if len(shape.doors) >= MOST_DOORS:
                shape.doors.clear()
            shape.doors[id(options)] = (options, door)


def _by_call(calls: Sequence[Call], values: Sequence[Any]) -> list[dict[int, Any]]:
    found, rest = [], iter(values)
    for call in calls:
        found.append({number: next(rest) for number in call.scalars})
    return found


def _parameters(
    kernel: Loops, buffers: Mapping[int, NDArray], values: Sequence[Any] | Mapping[int, Any]
) -> list[Any]:
    """A value for each parameter; of the scalars those given, by slot or by parameter."""
    by_slot = not isinstance(values, Mapping)
    params = []
    for number, source in enumerate(kernel.arguments):
        if source.what == "scalar":
            params.append(values[source.slot if by_slot else number])
        else:
            array = buffers[source.slot]
            params.append((array.shape if source.what == "extent" else array.strides)[source.dim])
    return params


def _door(
    shape: Shape, unit: Unit | None, code: CompiledLoops, buffers: list[NDArray]
) -> Door | None:
    """The door to the code of a whole group; it takes the buffers and then all scalars in turn."""
    places: dict[tuple[int, int], int] = {}
    for member, call in enumerate(shape.calls):
        for number in call.scalars:
            places[member, number] = len(buffers) + len(places)
    if unit is None:
        (call,) = shape.calls
        kernel, own = call.found.kernel, call.buffers
    else:
        kernel, own = unit.kernel, {number: number for number in range(len(buffers))}
    arrays = {number: buffers[place] for number, place in own.items()}

    def word_of(word: LoopWord) -> Given | int | None:
        if word.what == "pointer":
            return Given(own[word.number])
        source = kernel.arguments[word.number]
        if source.what != "scalar":
            array = arrays[source.slot]
            return int((array.shape if source.what == "extent" else array.strides)[source.dim])
        if kernel.dtypes[word.number] not in (INT64, FLOAT64):
            return None
        scalar = (0, word.number) if unit is None else unit.joined.scalars[source.slot]
        return Given(places[scalar])

    return door_to(code, arrays, word_of)

"""Pending calls of kernels as one value: what they have in common with all calls made in the same
turn (`Shape`, made once), and what is their own (`Group`).

An array whose content nobody needs after the run is *dead*: the joined kernel may keep it in
registers, or in a strip.  Dead are those that nobody holds, and, in a first run, those that are
held but not asked for: the group then waits with what it has read, and runs once more if they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.frontends.arrays import trace
from fusewright.ir.graph import PART, InPlace, Node, contiguous_strides, memory_of
from fusewright.ir.loops.statements import Kernel as Loops
from fusewright.kernels import group_code, units
from fusewright.kernels.shapes import Call, Plain, Shape, Source

if TYPE_CHECKING:
    from fusewright.targets.executable import LoopExecutable

NDArray = np.ndarray[Any, Any]
Execute = Callable[[Any, Any, list[NDArray], list[Any]], "LoopExecutable | None"]


_GroupBase: Any = Plain if native is None else native.Group


class Group(_GroupBase, InPlace):  # type: ignore[misc]
    """Calls that run in turn, as one kernel where they are several.

    Called with its operands it gives its shape's outputs, None for what is gone.  It runs once, or
    twice where something that was gone is asked for.
    """

    __slots__ = (
        ("execute", "shape", "values", "outcome", "error", "spare", "dead", "runs")
        if native is None
        else ()
    )

    execute: Execute
    shape: Shape
    values: list[tuple[Any, ...]]
    outcome: Any
    error: BaseException | None
    spare: frozenset[int]
    dead: int
    runs: int

    def __init__(self, execute: Execute, shape: Shape) -> None:
        self.spare = frozenset()
        self.execute = execute
        self.shape = shape
        self.values = []
        self.outcome = None
        self.error = None
        self.dead = -1
        self.runs = 0

    @property
    def title(self) -> str:
        """The kernels it calls, each once."""
        return "kernel " + "+".join(dict.fromkeys(c.found.kernel.name for c in self.calls))

    def may_overwrite(self, operands: frozenset[int]) -> None:
        self.spare = operands

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.shape.calls

    @property
    def takes_calls(self) -> bool:
        """Whether one more may join."""
        return self.shape.is_open and self.outcome is None and not self.runs and self.error is None

    def __call__(self, *operands: NDArray) -> tuple[NDArray | None, ...]:
        if self.error is not None:  # what it works on may be half done
            raise self.error
        if self.outcome is not None and all(each is not None for each in self.outcome):
            return tuple(map(self._array, range(len(self.outcome)), self.outcome))
        dead = self.dead if self.dead >= 0 else self._dead()
        self.dead = -1
        try:
            outcome = self._run(operands, dead)
        except BaseException as error:
            self.error = error if self.spare else None
            raise
        self.runs += 1
        parts = self._parts()
        for number in range(len(parts)):
            output = parts[number].attr
            array = outcome[output]
            # 3: two lists' references and the call's; more: somebody holds it
            if array is not None and getrefcount(parts[number]) > 3 and self._is_now(output):
                shape, dtype = parts[number].shape, parts[number].dtype
                strides = contiguous_strides(shape, dtype.itemsize)
                parts[number].become_leaf(memory_of(array), 0, strides)
        self.outcome = outcome
        return outcome

    def _array(self, number: int, entry: Any) -> NDArray:
        """An output as an array; the core keeps memory and offset."""
        if isinstance(entry, np.ndarray):
            return entry
        memory, offset = entry
        kind, place = self.shape.outputs[number]
        source = self.shape.arrays[place] if kind == "array" else None
        shape = source.shape if source is not None else ()
        dtype = source.dtype if source is not None else self.shape.dtypes[place]
        return np.ndarray(shape, dtype.numpy, memory.owner, offset)

    def _parts(self) -> list[Node]:
        """What it gives, as far as that is on the list of what is pending."""
        return [
            node for node in list(trace.pending) if node.kind == PART and node.args[0].value is self
        ]

    def _is_now(self, output: int) -> bool:
        kind, number = self.shape.outputs[output]
        return kind == "buffer" or self.shape.latest[number] == output

    def _dead(self) -> int:
        """The arrays that nobody holds any more."""
        found, shape = 0, self.shape
        parts = self._parts()
        for place in range(len(parts)):
            output = parts[place].attr
            # 3: two lists' references and the call's (never of a variable: see runtime.reuse)
            if getrefcount(parts[place]) <= 3 and self._is_now(output):
                kind, number = shape.outputs[output]
                found |= (kind == "array") << number
        return found & shape.forgettable

    def _run(self, operands: tuple[NDArray, ...], dead: int) -> tuple[NDArray | None, ...]:
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
            for number, value in zip(call.scalars, given, strict=True):
                lazy = call.lazy.get(number)
                values.append(value if lazy is None else np.asarray(operands[lazy]).item())
        gone = self._execute(memories, buffers, values, dead)
        found: dict[str, Sequence[NDArray | None]] = {"buffer": buffers}
        found["array"] = [None if gone >> n & 1 else each for n, each in enumerate(memories)]
        return tuple([found[kind][number] for kind, number in shape.outputs])

    def _memory(self, number: int, source: Source, operands: Sequence[NDArray]) -> NDArray:
        if source.operand < 0:
            if source.overwritten:
                return np.empty(source.shape, source.dtype.numpy)
            return np.full(source.shape, source.value, source.dtype.numpy)
        operand = np.asarray(operands[source.operand])  # the reference gives numbers
        if number in self.shape.latest:
            same = [other.operand for other in self.shape.arrays].count(source.operand)
            # A second run finds what the first has given in it, under another name.
            if same > 1 or source.operand not in self.spare or self.runs:
                return np.array(operand, order="C")
        if operand.flags.c_contiguous:
            return operand
        return np.ascontiguousarray(operand).reshape(operand.shape)

    def _execute(
        self, memories: list[NDArray], buffers: list[NDArray], values: list[Any], dead: int
    ) -> int:
        shape, unit = self.shape, None
        own = _by_call(shape.calls, values)
        if len(shape.calls) > 1 or dead:
            silent = group_code.dead_buffers(shape, dead)
            members = [(call.found, call.buffers) for call in shape.calls]
            unit = units.unit_of(members, buffers, silent, group_code.equal_extents(shape, buffers))
        if unit is not None:
            given = [own[member][param] for member, param in unit.joined.scalars]
            params = _parameters(unit.kernel, dict(enumerate(buffers)), given)
            code = self.execute(None, unit, buffers, params)
            group_code.remember(shape, unit, code, memories, buffers, dead)
            return 0 if code is None else group_code.gone_arrays(shape, code, dead)
        for call, numbers in zip(shape.calls, own, strict=True):
            arrays = {number: buffers[place] for number, place in call.buffers.items()}
            kernel = call.found.kernel
            ordered = [arrays[number] for number in kernel.given]
            params = _parameters(kernel, arrays, numbers)
            code = self.execute(call.kernel, call.found, ordered, params)
            if len(shape.calls) == 1:
                group_code.remember(shape, None, code, memories, buffers, dead)
        return 0


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

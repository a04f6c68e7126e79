"""Kernel calls that are no array statements: pending values that run when one is asked for.

A call that works on what a pending call gives is added to it, if nobody else can see what that was:
both then run as one kernel.  So a `Group` grows until something it writes is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.options import current
from fusewright.base.source import user_span
from fusewright.frontends.arrays import Scalar, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.views import Link
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import LEAF, OPAQUE, PART, SCALAR, VIEW, InPlace, Node
from fusewright.ir.loops.join import Joined
from fusewright.kernels import units
from fusewright.kernels.binding import Binding, Place
from fusewright.kernels.specialise import Specialised

if TYPE_CHECKING:
    from fusewright.kernels.kernel import Kernel

NDArray = np.ndarray[Any, Any]
Execute = Callable[[Any, Any, list[NDArray], list[Any]], None]
MOST_CALLS = 32
"""Calls that become one kernel: longer ones take longer to compile than they save."""
RECENT = 64
"""Pending values among which a group's are looked for."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a group: its buffers' numbers in the group, its scalars' values, and which of the
    group's operands hold those that are lazy.
    """

    kernel: Kernel[Any, Any]
    found: Specialised
    buffers: dict[int, int]
    numbers: dict[int, Any]
    lazy: dict[int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """What an array of a group holds at first: an operand, or one number everywhere."""

    operand: int
    value: Any
    dtype: DType
    shape: tuple[int, ...]


@dataclass
class Group(InPlace):
    """Calls that run in turn, as one kernel where they are several.

    `buffers` are parts of its arrays, or results (None).  Called with its operands it gives what
    `outputs` says: each is an array (its number) with what it holds in the end, or a buffer.  It
    runs once, whoever asks how often.
    """

    execute: Execute
    arrays: list[Source] = field(default_factory=list)
    buffers: list[Place | None] = field(default_factory=list)
    dtypes: list[DType] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)
    latest: dict[int, int] = field(default_factory=dict)
    outcome: tuple[NDArray, ...] | None = None
    error: BaseException | None = None

    def __post_init__(self) -> None:
        super().__init__()

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
        memories = [
            self._memory(number, source, operands) for number, source in enumerate(self.arrays)
        ]
        buffers = [
            np.empty((), dtype.numpy) if place is None else place.within(memories[place.array])
            for place, dtype in zip(self.buffers, self.dtypes, strict=True)
        ]
        numbers = [
            call.numbers | {n: np.asarray(operands[o]).item() for n, o in call.lazy.items()}
            for call in self.calls
        ]
        self._execute(buffers, numbers)
        found = {"array": memories, "buffer": buffers}
        return tuple(found[kind][number] for kind, number in self.outputs)

    def _memory(self, number: int, source: Source, operands: Sequence[NDArray]) -> NDArray:
        if source.operand < 0:
            return np.full(source.shape, source.value, source.dtype.numpy)
        operand = operands[source.operand]
        if number in self.latest:
            alone = sum(other.operand == source.operand for other in self.arrays) == 1
            if not alone or source.operand not in self.spare:
                return np.array(operand, order="C")
        if operand.flags.c_contiguous:
            return operand
        return np.ascontiguousarray(operand).reshape(operand.shape)

    def _execute(self, buffers: list[NDArray], numbers: list[dict[int, Any]]) -> None:
        unit = None
        if len(self.calls) > 1:
            unit = units.unit_of([(call.found, call.buffers) for call in self.calls], buffers)
        if unit is not None:
            joined: Joined = unit.joined
            values = [numbers[member][param] for member, param in joined.scalars]
            self.execute(None, unit, buffers, _parameters(joined.kernel.arguments, buffers, values))
            return
        for call, own in zip(self.calls, numbers, strict=True):
            kernel = call.found.kernel
            arrays = {number: buffers[call.buffers[number]] for number in kernel.given}
            params = [
                own[number]
                if source.what == "scalar"
                else _of(arrays[source.slot], source.what)[source.dim]
                for number, source in enumerate(kernel.arguments)
            ]
            self.execute(call.kernel, call.found, list(arrays.values()), params)

    def number_of(self, node: Node, whole: Node, operands: Sequence[Node]) -> int:
        """The array of the group that a value is, if it is what that array holds now; else -1."""
        if node.kind == PART and node.args[0] is whole:
            kind, number = self.outputs[node.attr]
            return number if kind == "array" and self.latest[number] == node.attr else -1
        for number, source in enumerate(self.arrays):
            if source.operand >= 0 and operands[source.operand] is node:
                return number if number not in self.latest else -1
        return -1


def _parameters(
    sources: Sequence[Any], buffers: Sequence[NDArray], values: Sequence[Any]
) -> list[Any]:
    return [
        values[source.slot]
        if source.what == "scalar"
        else _of(buffers[source.slot], source.what)[source.dim]
        for source in sources
    ]


def _of(array: NDArray, what: str) -> tuple[int, ...]:
    return array.shape if what == "extent" else array.strides


def defer(
    of: Kernel[Any, Any],
    found: Specialised,
    bound: Binding,
    values: Mapping[int, Any],
    execute: Execute,
) -> dict[int, Node]:
    """Record a call: what it writes gets new values; its results by their buffers."""
    with trace.lock:
        whole = _open_group(found, bound, values) if of.fuse is not False else None
        if whole is None:
            name = f"kernel {found.kernel.name}"
            group = Group(execute)
            # Not on the list of what is pending: only its parts are values.
            whole = Node(OPAQUE, name, (), bound.arrays[0]._dtype, (), (), group)
            if current().spans:
                whole.line = user_span()
        return _Adding(whole, of, found, bound, values).run()


class _Adding:
    """A call being added to a group."""

    def __init__(
        self,
        whole: Node,
        of: Kernel[Any, Any],
        found: Specialised,
        bound: Binding,
        values: Mapping[int, Any],
    ) -> None:
        self.whole, self.of, self.found = whole, of, found
        self.bound, self.values = bound, values
        self.group: Group = whole.value
        self.operands = list(whole.args)

    def run(self) -> dict[int, Node]:
        group, kernel, bound = self.group, self.found.kernel, self.bound
        arrays: list[int] = []
        for handle in bound.arrays:
            arrays.append(self.array(handle, arrays))
        buffers = {
            number: self.buffer(arrays[place.array], place.links, kernel.buffers[number].dtype)
            for number, place in bound.places.items()
        }
        for number in kernel.given:
            if number not in buffers:
                buffers[number] = self.added(None, kernel.buffers[number].dtype)
        lazy = {n: self.operand(v._node) for n, v in self.values.items() if type(v) is Scalar}
        numbers = {n: value for n, value in self.values.items() if n not in lazy}
        group.calls.append(Call(self.of, self.found, buffers, numbers, lazy))
        self.whole.args = tuple(self.operands)
        written = bound.written(kernel)
        handles = [bound.arrays[number] for number in written]
        parts = [
            self.part("array", arrays[number], handle._dtype, handle._shape)
            for number, handle in zip(written, handles, strict=True)
        ]
        results = {
            number: self.part("buffer", buffers[number], kernel.buffers[number].dtype, ())
            for number in kernel.given
            if number not in bound.places
        }
        # Only now: a long list may be computed here.
        for part in (*parts, *results.values()):
            trace.record(part)
        for handle, part in zip(handles, parts, strict=True):
            handle._write(part)
        return results

    def part(self, kind: str, number: int, dtype: DType, shape: tuple[int, ...]) -> Node:
        if kind == "array":
            self.group.latest[number] = len(self.group.outputs)
        self.group.outputs.append((kind, number))
        return Node(PART, "kernel", (self.whole,), dtype, shape, len(self.group.outputs) - 1)

    def array(self, handle: Handle, others: list[int]) -> int:
        """The group's number for an array of the call; two arrays may have one value so far."""
        node = handle._node
        known = self.group.number_of(node, self.whole, self.operands)
        if known >= 0 and known not in others:
            return known
        constant = _constant(node)
        if constant is None:
            source = Source(self.operand(node), None, node.dtype, node.shape)
        else:
            source = Source(-1, constant.value, node.dtype, node.shape)
        self.group.arrays.append(source)
        return len(self.group.arrays) - 1

    def operand(self, node: Node) -> int:
        for number, known in enumerate(self.operands):
            if known is node:
                return number
        self.operands.append(node)
        return len(self.operands) - 1

    def buffer(self, array: int, links: tuple[Link, ...], dtype: DType) -> int:
        place = Place(array, links)
        if place in self.group.buffers:
            return self.group.buffers.index(place)
        return self.added(place, dtype)

    def added(self, place: Place | None, dtype: DType) -> int:
        self.group.buffers.append(place)
        self.group.dtypes.append(dtype)
        return len(self.group.buffers) - 1


def _constant(node: Node) -> Node | None:
    """The number that a fresh array holds everywhere."""
    filled = node.kind == VIEW and not node.attr and node.args[0].kind == SCALAR
    return node.args[0] if filled else None


def _open_group(found: Specialised, bound: Binding, values: Mapping[int, Any]) -> Node | None:
    """The pending group that a call may join: the only one it depends on."""
    lazy = [value._node for value in values.values() if type(value) is Scalar]
    whole = None
    for handle in bound.arrays:
        node = handle._node
        if node.kind == PART and isinstance(node.args[0].value, Group):
            whole = node.args[0]
    if whole is None or trace.is_held():
        return None
    group: Group = whole.value
    if group.calls[-1].kernel.fuse is False:
        return None
    if group.outcome is not None or len(group.calls) >= MOST_CALLS:
        return None
    if any(node.kind not in (LEAF, SCALAR) for node in lazy):
        return None
    written = bound.written(found.kernel)
    nodes = bound.nodes
    if len(set(map(id, nodes))) < len(nodes):
        return None
    del nodes
    for number, handle in enumerate(bound.arrays):
        if not _may_join(handle, number in written, group, whole):
            return None
    return whole


def _may_join(handle: Handle, is_written: bool, group: Group, whole: Node) -> bool:
    node = handle._node
    known = group.number_of(node, whole, whole.args)
    if known < 0:  # it must not depend on the group
        return node.kind == LEAF or _constant(node) is not None
    if not is_written or node.kind != PART:
        return True
    # What the group has given is overwritten.  The handle, this variable and the call hold it, and
    # as a rule the list of what is pending: nobody else may.
    listed = any(each is node for each in trace.pending[-RECENT:])
    return getrefcount(node) <= 3 + listed

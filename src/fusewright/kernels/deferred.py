"""Kernel calls that are no array statements: pending values that run when one is asked for.

A call that works on what a pending call gives is added to it, if nobody else can see what that was:
both then run as one kernel.  So a group grows until something it writes is needed.  What a call
adds is found out once for each shape of a group and each way the call's arrays relate to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.options import current
from fusewright.base.source import user_span
from fusewright.frontends.arrays import Scalar, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.ir.graph import LEAF, OPAQUE, PART, SCALAR, VIEW, Node
from fusewright.kernels.binding import Binding, Place
from fusewright.kernels.groups import Call, Execute, Group, Part, Shape, Source
from fusewright.kernels.specialise import Specialised

if TYPE_CHECKING:
    from fusewright.kernels.kernel import Kernel

MOST_CALLS = 32
"""Calls that become one kernel: longer ones take longer to compile than they save."""
RECENT = 64
"""Pending values among which a group's are looked for."""
MOST_SHAPES = 1024
"""Shapes remembered; all are forgotten when there are more."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """What calls alike have in common: the kernel, where its buffers lie in the arrays, and which
    arrays it writes to.
    """

    of: Kernel[Any, Any]
    found: Specialised
    places: Mapping[int, Place]
    written: tuple[int, ...]
    results: tuple[int, ...]


_kinds: dict[Any, Kind] = {}
_nothing = Shape()


def kind_of_call(of: Kernel[Any, Any], found: Specialised, bound: Binding) -> Kind:
    """The one kind of calls of this structure."""
    key = (id(of), id(found), bound.structure())
    known = _kinds.get(key)
    if known is None:
        if len(_kinds) >= MOST_SHAPES:
            forget()
        kernel, places = found.kernel, dict(bound.places)
        results = tuple(number for number in kernel.given if number not in places)
        written = tuple(bound.written(kernel))
        known = _kinds[key] = Kind(of, found, places, written, results)
    return known


def forget() -> None:
    """Forget all kinds of calls and shapes of groups; those pending keep theirs."""
    global _nothing, _shapes
    _kinds.clear()
    _nothing, _shapes = Shape(), 0


_shapes = 0


def defer(
    kind: Kind, handles: Sequence[Handle], values: Mapping[int, Any], execute: Execute
) -> dict[int, Node]:
    """Record a call: what it writes gets new values; its results by their buffers."""
    with trace.lock:
        lazy = {n: v._node for n, v in values.items() if type(v) is Scalar}
        whole = _open_group(kind, handles, lazy) if kind.of.fuse is not False else None
        if whole is None:
            name = f"kernel {kind.found.kernel.name}"
            # Not on the list of what is pending: only its parts are values.
            group = Group(execute, _nothing)
            whole = Node(OPAQUE, name, (), handles[0]._dtype, (), (), group)
            if current().spans:
                whole.line = user_span()
        group = whole.value
        relations, operands = _related(handles, lazy, group.shape, whole)
        parts = _add(kind, group, relations, len(handles), values, lazy, handles)
        whole.args = operands
        return _written(kind, whole, parts, handles)


def _written(
    kind: Kind, whole: Node, parts: Sequence[Part], handles: Sequence[Handle]
) -> dict[int, Node]:
    """Give each array and result its new value."""
    nodes = [Node(PART, "kernel", (whole,), part.dtype, part.shape, part.output) for part in parts]
    # Only now: a long list may be computed here.
    for node in nodes:
        trace.record(node)
    results = {}
    for part, node in zip(parts, nodes, strict=True):
        if part.is_result:
            results[part.number] = node
        else:
            handles[part.number]._write(node)
    return results


def _related(
    handles: Sequence[Handle], lazy: Mapping[int, Node], shape: Shape, whole: Node
) -> tuple[tuple[Any, ...], tuple[Node, ...]]:
    """How each array and lazy number relates to a group, and the group's operands with those new.

    An array is one of the group's (its number), one number everywhere, or an operand (-1 less its
    number); two arrays may have one value so far.
    """
    known = whole.args
    operands = list(known)
    found: list[Any] = []
    for handle in handles:
        node = handle._node
        number = shape.number_of(node, whole, known)
        if number >= 0 and number not in found:
            found.append(number)
            continue
        constant = _constant(node)
        if constant is None:
            found.append(-1 - _operand(operands, node))
        else:
            value = constant.value
            exact = np.asarray(value, node.dtype.numpy).tobytes()
            found.append((exact, type(value), node.dtype, node.shape))
    for number, node in lazy.items():
        found.append((number, _operand(operands, node)))
    return tuple(found), known if len(operands) == len(known) else tuple(operands)


def _operand(operands: list[Node], node: Node) -> int:
    for number, known in enumerate(operands):
        if known is node:
            return number
    operands.append(node)
    return len(operands) - 1


def _add(
    kind: Kind,
    group: Group,
    relations: tuple[Any, ...],
    arrays: int,
    values: Mapping[int, Any],
    lazy: Mapping[int, Node],
    handles: Sequence[Handle],
) -> tuple[Part, ...]:
    """Let the group have one more call; what that gives."""
    global _shapes
    before = group.shape
    step = before.after.get((kind, relations))
    if step is None:
        if _shapes >= MOST_SHAPES:
            forget()
        _shapes += 1
        step = _added(kind, before, relations, arrays, sorted(values), handles)
        before.after[kind, relations] = step
    group.shape, parts = step
    group.values.append(values if not lazy else {n: v for n, v in values.items() if n not in lazy})
    return parts


def _added(
    kind: Kind,
    before: Shape,
    relations: Sequence[Any],
    count: int,
    scalars: Sequence[int],
    handles: Sequence[Handle],
) -> tuple[Shape, tuple[Part, ...]]:
    """The shape of a group with one more call, and what the call gives."""
    kernel = kind.found.kernel
    buffers, dtypes = list(before.buffers), list(before.dtypes)
    arrays, numbers = _arrays_with(before.arrays, relations[:count], handles)
    own: dict[int, int] = {}
    for number in (*kind.places, *kind.results):
        at = kind.places.get(number)
        place = None if at is None else Place(numbers[at.array], at.links)
        if place is None or place not in buffers:
            buffers.append(place)
            dtypes.append(kernel.buffers[number].dtype)
            own[number] = len(buffers) - 1
        else:
            own[number] = buffers.index(place)
    outputs, latest, parts = list(before.outputs), dict(before.latest), []
    for array in kind.written:
        latest[numbers[array]] = len(outputs)
        handle = handles[array]
        parts.append(Part(len(outputs), array, False, handle._dtype, handle._shape))
        outputs.append(("array", numbers[array]))
    for number in kind.results:
        parts.append(Part(len(outputs), number, True, kernel.buffers[number].dtype, ()))
        outputs.append(("buffer", own[number]))
    call = Call(kind.of, kind.found, own, tuple(scalars), dict(relations[count:]))
    calls = (*before.calls, call)
    shape = Shape(arrays, tuple(buffers), tuple(dtypes), calls, tuple(outputs), latest)
    return shape, tuple(parts)


def _arrays_with(
    before: Sequence[Source], relations: Sequence[Any], handles: Sequence[Handle]
) -> tuple[tuple[Source, ...], list[int]]:
    """A group's arrays with those of a call, and the numbers of the call's."""
    arrays, numbers = list(before), []
    for relation, handle in zip(relations, handles, strict=True):
        known = isinstance(relation, int)
        if known and relation >= 0:
            numbers.append(relation)
            continue
        value, operand = None, -1 - relation if known else -1
        if not known:
            constant = _constant(handle._node)
            assert constant is not None
            value = constant.value
        arrays.append(Source(operand, value, handle._dtype, handle._shape))
        numbers.append(len(arrays) - 1)
    return tuple(arrays), numbers


def _constant(node: Node) -> Node | None:
    """The number that a fresh array holds everywhere."""
    filled = node.kind == VIEW and not node.attr and node.args[0].kind == SCALAR
    return node.args[0] if filled else None


def _open_group(kind: Kind, handles: Sequence[Handle], lazy: Mapping[int, Node]) -> Node | None:
    """The pending group that a call may join: the only one it depends on."""
    whole = None
    for handle in handles:
        node = handle._node
        if node.kind == PART and type(node.args[0].value) is Group:
            whole = node.args[0]
    if whole is None or trace.is_held():
        return None
    group: Group = whole.value
    calls = group.shape.calls
    if calls[-1].kernel.fuse is False or group.outcome is not None or len(calls) >= MOST_CALLS:
        return None
    if any(node.kind not in (LEAF, SCALAR) for node in lazy.values()):
        return None
    if len({id(handle._node) for handle in handles}) < len(handles):
        return None
    del node
    for number, handle in enumerate(handles):
        if not _may_join(handle, number in kind.written, group, whole):
            return None
    return whole


def _may_join(handle: Handle, is_written: bool, group: Group, whole: Node) -> bool:
    node = handle._node
    known = group.shape.number_of(node, whole, whole.args)
    if known < 0:  # it must not depend on the group
        return node.kind == LEAF or _constant(node) is not None
    if not is_written or node.kind != PART:
        return True
    # What the group has given is overwritten.  The handle, this variable and the call hold it, and
    # as a rule the list of what is pending: nobody else may.
    listed = any(each is node for each in trace.pending[-RECENT:])
    return getrefcount(handle._node) <= 3 + listed

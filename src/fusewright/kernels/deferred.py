"""Kernel calls that are no array statements: pending values that run when one is asked for.

A call that works on what a pending call gives is added to it, if nobody else can see what that was:
both then run as one kernel.  So a group grows until something it writes is needed.  What a call
adds is found out once for each shape of a group and each way the call's arrays relate to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.options import current
from fusewright.base.source import user_span
from fusewright.base.values import dataclass
from fusewright.frontends.arrays import Scalar, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.survivors import RECENT
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import LEAF, OPAQUE, PART, SCALAR, VIEW, Node
from fusewright.ir.loops.statements import Kernel as Loops
from fusewright.kernels import roundings  # noqa: F401
from fusewright.kernels.binding import Binding, Place
from fusewright.kernels.groups import Execute, Group
from fusewright.kernels.overwritten import overwritten
from fusewright.kernels.shapes import Call, Part, Shape, Source
from fusewright.kernels.specialise import Specialised

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData

MOST_CALLS = 32
"""Calls that become one kernel: longer ones take longer to compile than they save."""
MOST_OPERATIONS = 2000
"""Operations in their text beyond which no call joins: each takes a millisecond to compile."""
MOST_SHAPES = 1024
"""Shapes remembered; all are forgotten when there are more."""
MOST_DEAD = 62
"""Arrays of a group that may be dead: the first."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """What calls alike have in common: the kernel (None: array statements), where its buffers lie
    in the arrays, which arrays it writes to, and which of them it overwrites before it reads them.
    """

    of: KernelData | None
    found: Specialised
    places: Mapping[int, Place]
    written: tuple[int, ...]
    overwritten: frozenset[int]
    results: tuple[int, ...]

    @property
    def fuses(self) -> bool:
        """Whether others may join."""
        return self.of is None or self.of.fuse is not False


_kinds: dict[Any, Kind] = {}
_nothing = Shape()


def kind_of_call(of: KernelData, found: Specialised, bound: Binding) -> Kind:
    """The one kind of calls of this structure."""
    key = (id(of), id(found), bound.structure())
    known = _kinds.get(key)
    if known is None:
        if len(_kinds) >= MOST_SHAPES:
            forget()
        kernel, places = found.kernel, dict(bound.places)
        results = tuple(number for number in kernel.given if number not in places)
        written = tuple(bound.written(kernel))
        gone = _overwritten(kernel, bound)
        known = _kinds[key] = Kind(of, found, places, written, gone, results)
    return known


def _overwritten(kernel: Loops, bound: Binding) -> frozenset[int]:
    """The arrays of a call whose content before it nobody reads."""
    whole: dict[int, int] = {}
    arrays = [place.array for place in bound.places.values()]
    for number, place in bound.places.items():
        if not place.links and arrays.count(place.array) == 1:
            whole[number] = place.array
    extents = {
        (number, dim): extent
        for number, array in whole.items()
        for dim, extent in enumerate(bound.arrays[array]._shape)
    }
    return frozenset(whole[n] for n in overwritten(kernel, extents) if n in whole)


def forget() -> None:
    """Forget all kinds of calls and shapes of groups; those pending keep theirs."""
    global _nothing, _shapes
    _kinds.clear()
    _nothing, _shapes = Shape(), 0
    if native is not None:
        native.set_groups(Group, _nothing)


_shapes = 0
forget()


def defer(
    kind: Kind, handles: Sequence[Handle], values: Mapping[int, Any], execute: Execute
) -> dict[int, Node]:
    """Record a call: what it writes gets new values; its results by their buffers."""
    with trace.lock:
        lazy = {n: v._node for n, v in values.items() if type(v) is Scalar}
        whole = _open_group(kind, handles, lazy) if kind.fuses else None
        if whole is None:
            whole = new_group(kind.found.kernel.name, handles[0]._dtype, execute)
        group = whole.value
        relations, operands = related(kind, handles, lazy, group.shape, whole)
        parts = add_call(kind, group, relations, len(handles), values, lazy, handles)
        whole.args = operands
        return _written(kind, whole, parts, handles)


def new_group(name: str, dtype: DType, execute: Execute) -> Node:
    """A group without calls; not on the list of what is pending: only its parts are values."""
    whole = Node(OPAQUE, f"kernel {name}", (), dtype, (), (), Group(execute, _nothing))
    if current().spans:
        whole.line = user_span()
    return whole


def group_of(node: Node) -> Node | None:
    """The group whose part a value is."""
    is_part = node.kind == PART and type(node.args[0].value) is Group
    return node.args[0] if is_part else None


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


def related(
    kind: Kind, handles: Sequence[Handle], lazy: Mapping[int, Node], shape: Shape, whole: Node
) -> tuple[tuple[Any, ...], tuple[Node, ...]]:
    """How each array and lazy number relates to a group, and the group's operands with those new.

    An array is one of the group's (its number), one number everywhere, or an operand (-1 less its
    number); None where what it holds is not needed and not in memory.  Two arrays may have one
    value so far.
    """
    known = whole.args
    operands = list(known)
    found: list[Any] = []
    for array, handle in enumerate(handles):
        node = handle._node
        number = shape.number_of(node, whole, known)
        if number >= 0 and number not in found:
            found.append(number)
            continue
        if array in kind.overwritten and node.kind != LEAF:
            found.append(None)
            continue
        constant = constant_of(node)
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


def add_call(
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
        if native is not None:
            _tell_core(kind, before, relations[:arrays], relations[arrays:], step, handles)
    group.shape, parts = step
    group.values.append(tuple([None if n in lazy else values[n] for n in sorted(values)]))
    return parts


def _tell_core(
    kind: Kind,
    before: Shape,
    relations: Sequence[Any],
    lazy: Sequence[tuple[int, int]],
    step: tuple[Shape, tuple[Part, ...]],
    handles: Sequence[Handle],
) -> None:
    """Let the native core add the next call like this one."""
    shape, parts = step
    by_output = tuple(
        number if what == "array" and shape.latest[number] == output else -1
        for output, (what, number) in enumerate(shape.outputs)
    )
    by_operand = [-2] * (1 + max((s.operand for s in shape.arrays), default=-1))
    for number, source in reversed(tuple(enumerate(shape.arrays))):
        if source.operand >= 0:
            by_operand[source.operand] = -1 if number in shape.latest else number
    shape.describe(shape.is_open, shape.keeps, shape.forgettable, by_output, tuple(by_operand))
    rows: list[Any] = []
    for relation, handle in zip(relations, handles, strict=True):
        if isinstance(relation, tuple):
            constant = constant_of(handle._node)
            assert constant is not None
            relation = (constant.value, handle._dtype)
        rows.append(relation)
    rows += [-1 - operand for _, operand in lazy]
    outputs = tuple((p.output, p.number, p.is_result, p.dtype, p.shape) for p in parts)
    with suppress(ValueError, OverflowError):  # numbers the core has no room for
        before.learn(kind, tuple(rows), shape, outputs)


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
    arrays, numbers = _arrays_with(kind, before.arrays, relations[:count], handles)
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
    forgettable, keeps = _forgettable(arrays, buffers, latest)
    is_open = len(calls) < MOST_CALLS and kind.fuses
    is_open = is_open and sum(each.found.size for each in calls) < MOST_OPERATIONS
    shape = Shape(
        arrays, tuple(buffers), tuple(dtypes), calls, tuple(outputs), latest,
        forgettable=forgettable, keeps=keeps, is_open=is_open,
    )  # fmt: skip
    return shape, tuple(parts)


def _forgettable(
    arrays: Sequence[Source], buffers: Sequence[Place | None], latest: Mapping[int, int]
) -> tuple[int, bool]:
    """The arrays (bits) that may be dead, and whether the group may run twice."""
    places = [place.array for place in buffers if place is not None]
    parts = {place.array for place in buffers if place is not None and place.links}
    found = 0
    for number, source in enumerate(arrays[:MOST_DEAD]):
        if source.overwritten and places.count(number) == 1 and number not in parts:
            found |= 1 << number
    keeps = all(arrays[n].operand < 0 or arrays[n].overwritten for n in latest)
    return found, keeps


def _arrays_with(
    kind: Kind, before: Sequence[Source], relations: Sequence[Any], handles: Sequence[Handle]
) -> tuple[tuple[Source, ...], list[int]]:
    """A group's arrays with those of a call, and the numbers of the call's."""
    arrays, numbers = list(before), []
    for array, (relation, handle) in enumerate(zip(relations, handles, strict=True)):
        known = isinstance(relation, int)
        if known and relation >= 0:
            numbers.append(relation)
            continue
        value, operand = None, -1 - relation if known else -1
        if isinstance(relation, tuple):
            constant = constant_of(handle._node)
            assert constant is not None
            value = constant.value
        is_gone = array in kind.overwritten
        arrays.append(Source(operand, value, handle._dtype, handle._shape, is_gone))
        numbers.append(len(arrays) - 1)
    return tuple(arrays), numbers


def constant_of(node: Node) -> Node | None:
    """The number that a fresh array holds everywhere."""
    filled = node.kind == VIEW and not node.attr and node.args[0].kind == SCALAR
    return node.args[0] if filled else None


def _open_group(kind: Kind, handles: Sequence[Handle], lazy: Mapping[int, Node]) -> Node | None:
    """The pending group that a call may join: the only one it depends on."""
    whole = None
    for number, handle in enumerate(handles):
        node = handle._node
        known = group_of(node)
        if known is not None:
            if known.value.takes_calls:
                whole = known
            elif number not in kind.overwritten:
                return None  # it has to run first
    if whole is None or trace.is_held():
        return None
    group: Group = whole.value
    if any(node.kind not in (LEAF, SCALAR) for node in lazy.values()):
        return None
    if len({id(handle._node) for handle in handles}) < len(handles):
        return None
    del node
    for number, handle in enumerate(handles):
        if not _may_join(kind, number, handle, group, whole):
            return None
    return whole


def _may_join(kind: Kind, array: int, handle: Handle, group: Group, whole: Node) -> bool:
    node = handle._node
    known = group.shape.number_of(node, whole, whole.args)
    if known < 0:  # it must not depend on the group
        return array in kind.overwritten or node.kind == LEAF or constant_of(node) is not None
    if array not in kind.written or node.kind != PART:
        return True
    # What the group has given is overwritten.  The handle, this variable and the call hold it, and
    # as a rule the list of what is pending: nobody else may.
    listed = any(each is node for each in trace.pending[-RECENT:])
    return getrefcount(handle._node) <= 3 + listed

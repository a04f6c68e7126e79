"""A recorded call: a private copy of the slice it computes, bound to new arguments and run again.

While a function is recorded, its array arguments hold placeholders, so that reading a value is seen
(a recording that was read from cannot be replayed).  The recorded call itself then runs like any
other: the copy is for the calls after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from fusewright.base import forks, hooks
from fusewright.base.options import Options
from fusewright.base.source import file_name, user_span
from fusewright.base.values import dataclass
from fusewright.frontends.arrays import sharing, trace, views
from fusewright.frontends.arrays.core import Handle
from fusewright.ir.graph import LEAF, OPAQUE, SCALAR, Node, leaf
from fusewright.replay.captured import Captured, Unfit
from fusewright.replay.parameter import Compute, compute_of
from fusewright.replay.structure import Spec

_recording = threading.local()
turn = threading.RLock()
"""Held while a function is being recorded: one at a time, since all threads evaluate through it."""
forks.wait_for(forks.REPLAY, lambda: turn if turn.acquire(blocking=False) else None)


def is_recording() -> bool:
    """Whether this thread is inside a recorded call: functions called from it are part of it."""
    return getattr(_recording, "active", False)


class Placeholders:
    """Stand-ins for the values of the arguments' roots while a function runs."""

    def __init__(self, roots: list[Handle]) -> None:
        self.roots = roots
        self.originals: list[Node] = []
        self.nodes: list[Node] = []
        self.read = ""

    def __enter__(self) -> Placeholders:
        self.originals = [root._node for root in self.roots]
        trace.evaluate(*self.originals)  # another thread may have written since they were looked at
        for number, (root, node) in enumerate(zip(self.roots, self.originals, strict=True)):
            stand_in = Node(
                OPAQUE, "argument", (), node.dtype, node.shape, (number,), _content(node)
            )
            self.nodes.append(stand_in)
            root._node = stand_in
        self._before = hooks.evaluate, hooks.is_driver
        self._thread = threading.get_ident()
        hooks.set_evaluate(self._evaluate)
        trace.hold(1)
        _recording.active = True
        return self

    def __exit__(self, *error: object) -> None:
        _recording.active = False
        trace.hold(-1)
        hooks.set_evaluate(*self._before)
        self.land()
        for root, stand_in, node in zip(self.roots, self.nodes, self.originals, strict=True):
            if root._node is stand_in:
                root._node = node

    def _evaluate(self, nodes: Sequence[Any]) -> None:
        if threading.get_ident() == self._thread:
            self.read = self.read or _where("its Python code looks at a value that arrays hold")
        self.land()
        self._before[0](nodes)

    def land(self) -> None:
        """Give the placeholders their values."""
        for stand_in, node in zip(self.nodes, self.originals, strict=True):
            if stand_in.kind != LEAF:
                stand_in.become_leaf(*node.value)


def _where(why: str) -> str:
    line = user_span()
    return f"{why} ({file_name(line[0])}:{line[1]})" if line else why


def _content(node: Node) -> Callable[[], Any]:
    return lambda: sharing.window(node)


@dataclass(slots=True)
class Made:
    """What the results of a replay are built from."""

    arguments: Sequence[Handle]
    roots: Sequence[Handle]
    floats: Sequence[float]
    fresh: list[Any]


Execute = Callable[[list[Node], Any, Options], None]


@dataclass(slots=True)
class Recording:
    """What a replay needs.

    `order` is the copied slice, `inputs` its leaves with the number of the root they are bound to,
    `scalars` its parameters that follow from float arguments, `outputs` what it computes.  `places`
    says where each value comes from that the call leaves behind, an output's number or `~root`:
    first the new values of the `changed` roots, then those of the results (`kinds`: class and flags
    of the handle).  `lent` are the roots on NumPy's memory that the results look into, `restored`
    what the `stored` values are before they are computed: the outputs, and others that the code
    leaves in memory.
    """

    order: list[Node]
    runner: Any
    options: Options
    captured: Captured
    used: list[tuple[int, float]]
    inputs: list[tuple[int, Node]]
    scalars: list[tuple[Node, Compute]]
    outputs: list[Node]
    changed: list[int]
    places: list[int]
    kinds: list[tuple[type, int]]
    spec: Spec
    lent: set[int]
    stored: list[Node] = field(default_factory=list)
    restored: list[tuple[Any, ...]] = field(default_factory=list)
    form: str = ""
    """"one" where the result is one of `kinds`, "tuple" where it is a tuple of them all."""

    def __post_init__(self) -> None:
        if self.runner is not None:
            self.stored = [self.order[slot] for slot in self.runner.outputs]
            self.restored = [(n.kind, n.op, n.args, n.attr, n.value) for n in self.stored]

    def fits(self, floats: Sequence[float], options: Options) -> bool:
        """Whether a call with these floats does what was recorded."""
        if options is not self.options and options != self.options:
            return False
        for number, value in self.used:
            # -0.0 equals 0.0, and NaN not even itself
            if str(floats[number]) != str(value):
                return False
        return self.captured.holds()

    def run(self, execute: Execute, given: Sequence[Node], floats: list[float]) -> list[Node]:
        """Bind, run, and take the results out; the copy is then what it was before."""
        for number, node in self.inputs:
            node.value = given[number].value
        for node, compute in self.scalars:
            node.value = compute(floats)
        made: list[Node] = []
        try:
            execute(self.order, self.runner, self.options)
            for node in self.outputs:
                memory, offset, strides = node.value
                made.append(leaf(memory, node.dtype, node.shape, offset, strides))
        finally:
            for node, state in zip(self.stored, self.restored, strict=True):
                node.kind, node.op, node.args, node.attr, node.value = state
            for _, node in self.inputs:
                node.value = None
        return made

    def replay(
        self,
        execute: Execute,
        arguments: Sequence[Handle],
        roots: list[Handle],
        before: list[Node],
        floats: list[float],
    ) -> Any:
        """A call: new values in the roots it changes, and its results; `before` are the values that
        the roots had when the call began.
        """
        made = self.run(execute, before, floats) if self.outputs else []
        values = [made[place] if place >= 0 else before[~place] for place in self.places]
        if self.lent:
            values = self._detach(roots, values, before)
        for number, value in zip(self.changed, values, strict=False):
            roots[number]._node = value
        fresh = []
        for (kind, flags), value in zip(self.kinds, values[len(self.changed) :], strict=True):
            handle: Any = Handle.__new__(kind)
            handle._node, handle._flags = value, flags
            fresh.append(handle)
        for node in made:
            trace.note_bytes(node.value[0].nbytes)
        return self.spec(Made(arguments, roots, floats, fresh))

    def _detach(self, roots: list[Handle], values: list[Node], before: list[Node]) -> list[Node]:
        """What a NumPy array lent for the call must not stay behind: copies instead."""
        own: dict[int, Node] = {}
        for number in self.lent:
            own[id(before[number])] = sharing.copied(sharing.window(before[number]))
            roots[number]._node = own[id(before[number])]
        return [own.get(id(value), value) for value in values]


def copy_slice(outputs: Sequence[Node]) -> dict[Node, Node]:
    """A copy of everything some values need, by original; leaves are copied too."""
    copies: dict[Node, Node] = {}
    stack = list(outputs)
    while stack:
        node = stack[-1]
        missing = [arg for arg in node.args if arg not in copies]
        stack.extend(missing)
        if missing:
            continue
        stack.pop()
        if node not in copies:
            args = tuple([copies[arg] for arg in node.args])
            fresh = Node(node.kind, node.op, args, node.dtype, node.shape, node.attr, node.value)
            fresh.line = node.line
            copies[node] = fresh
    return copies


class Results:
    """The arrays among a call's results: new ones, arguments, and views of either."""

    def __init__(self, arguments: Sequence[Handle], roots: Sequence[Handle]) -> None:
        self.arguments = {id(handle): number for number, handle in enumerate(arguments)}
        self.roots = {id(handle): number for number, handle in enumerate(roots)}
        self.fresh: dict[int, int] = {}
        self.handles: list[Handle] = []
        self.used_roots: set[int] = set()

    def leaf(self, value: Any) -> Spec:
        """How a replay makes this result."""
        if not isinstance(value, Handle):
            computed = compute_of(value)
            if computed is None:
                return lambda made: value
            compute = computed[0]
            return lambda made: compute(made.floats)
        number = self.arguments.get(id(value))
        if number is not None:
            return lambda made: made.arguments[number]
        return self._array(value)

    def _array(self, value: Handle) -> Spec:
        root = self.roots.get(id(value))
        if root is not None:
            self.used_roots.add(root)
            return lambda made: made.roots[root]
        if value._base is not None:
            base = self._array(value._base)
            link, flags = value._link, value._flags  # type: ignore[attr-defined]
            return lambda made: views.new_view(base(made), link, flags)
        number = self.fresh.get(id(value))
        if number is None:
            number = self.fresh[id(value)] = len(self.handles)
            self.handles.append(value)
        return lambda made: made.fresh[number]


def check_results(fresh: Sequence[Handle], stand_ins: Sequence[Node], captured: Captured) -> None:
    """Refuse to replay what returns values that were there before the call."""
    known = {id(handle) for handle in captured.arrays}
    for handle in fresh:
        node = handle._node
        if id(handle) in known or node.kind == SCALAR:
            raise Unfit("it returns an array that is not its own")
        if node.kind == LEAF and not any(node is stand_in for stand_in in stand_ins):
            raise Unfit("it returns an array that was made from values outside of the recording")


def check_leaves(copies: dict[Node, Node], stand_ins: Sequence[Node], captured: Captured) -> None:
    """Refuse to replay what depends on values nobody will look up again."""
    known = {id(node) for node in stand_ins} | {id(node) for _, node in captured.nodes}
    memories = {id(node.value[0]) for _, node in captured.nodes if node.kind == LEAF}
    for node in copies:
        if node.kind == LEAF and id(node) not in known and id(node.value[0]) not in memories:
            raise Unfit(
                "it makes an array from Python numbers or NumPy data, which may differ next time"
            )

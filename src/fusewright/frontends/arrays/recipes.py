"""What a function records, learnt once for each kind of call: the core records it again without
Python (`_core/recipes.c`).

A function of ours that records (`roll`, `diff`, `stack`, ...) decides by the shapes and types of
its operands and by its other arguments what nodes it makes: 10 to 60 µs of Python each time.  A
call that comes the second time with the same of all these is made once more on stand-ins, values
nobody has computed.  Where the function asks for one of them, writes to it, makes a view, or uses
anything else that is in memory, there is no recipe.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from fusewright._core import native
from fusewright.base import hooks
from fusewright.frontends.arrays import core, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.ir.graph import (
    ASSEMBLE,
    GATHER,
    IOTA,
    MAP,
    REDUCE,
    RESHAPE,
    SCALAR,
    SCAN,
    VIEW,
    Node,
    operands_first,
)  # fmt: skip

MOST = 64
"""Nodes of a recipe."""
STAND_IN = "stand-in"
KINDS = frozenset((MAP, VIEW, REDUCE, SCAN, ASSEMBLE, GATHER, IOTA, RESHAPE, SCALAR))

Step = tuple[int, str, tuple[int, ...], int, tuple[int, ...], Any, Any, bool]
"""Kind, op, numbers of the operands, dtype, shape, attr, value; whether it is on the pending list.
The stand-ins come first in the numbering."""
Recipe = tuple[tuple[Step, ...], tuple[int, ...], str]
"""The steps, the numbers of the results, and what holds them: "" for a single one."""


class _AskedError(Exception):
    """The function has looked at a value."""


class _Unasked:
    """While a function runs on stand-ins: nothing is computed for this thread."""

    def __enter__(self) -> None:
        self._before, self._thread = (hooks.evaluate, hooks.is_driver), threading.get_ident()
        hooks.set_evaluate(self._evaluate)
        trace.hold(1)

    def __exit__(self, *error: object) -> None:
        trace.hold(-1)
        hooks.set_evaluate(*self._before)

    def _evaluate(self, nodes: Sequence[Node]) -> None:
        if threading.get_ident() == self._thread:
            raise _AskedError
        self._before[0](nodes)


def learn(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The recipe of a call; False where there is none."""
    with trace.lock:
        whole = native.whole()
        before = {id(node) for node in trace.pending}
        found = _followed(function, args, kwargs, before)
        trace.drop_tail()
        _forget(before)
        native.set_whole(min(whole, len(trace.pending)))  # what was dropped now left no gap
    return found or False


def _followed(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    before: set[int],
) -> Recipe | None:
    stand_ins: list[Handle] = []
    given = [_with_stand_ins(value, stand_ins) for value in args]
    named = {name: _with_stand_ins(value, stand_ins) for name, value in kwargs.items()}
    operands = [handle._node for handle in stand_ins]
    try:
        with _Unasked():
            result = function(*given, **named)
    except Exception:  # noqa: BLE001
        return None  # the call itself says what is wrong
    if any(a._node is not b for a, b in zip(stand_ins, operands, strict=True)):
        return None  # it writes
    recorded = {id(node) for node in trace.pending} - before
    return _recipe(result, operands, recorded)


def _forget(before: set[int]) -> None:
    """Take off the pending list what is computed from stand-ins and held by somebody, as by the
    frames of an error: there is nothing to compute it from.
    """
    left = {
        id(node)
        for node in trace.pending
        if id(node) not in before
        and any(each.op == STAND_IN for each in operands_first([node], []))
    }
    if left:
        trace.pending[:] = [node for node in trace.pending if id(node) not in left]


def _with_stand_ins(value: Any, made: list[Handle]) -> Any:
    if isinstance(value, Handle):
        node = value._node
        made.append(core.wrap_array(Node(MAP, STAND_IN, (), node.dtype, node.shape)))
        return made[-1]
    if type(value) in (list, tuple):
        return type(value)(_with_stand_ins(each, made) for each in value)
    return value


def _recipe(result: Any, operands: list[Node], recorded: set[int]) -> Recipe | None:
    handles = result if type(result) in (list, tuple) else [result]
    if not handles or not all(map(_is_plain, handles)):
        return None
    numbers = {id(node): number for number, node in enumerate(operands)}
    if any(id(handle._node) in numbers for handle in handles):
        return None  # an operand itself
    steps: list[Step] = []
    for node in operands_first([handle._node for handle in handles], operands):
        if node.kind not in KINDS or node.layout is not None or len(steps) == MOST:
            return None
        numbers[id(node)] = len(operands) + len(steps)
        places = tuple(numbers[id(arg)] for arg in node.args)
        number = native.dtype_number(node.dtype)
        steps.append(
            (node.kind, node.op, places, number, node.shape, node.attr, node.value,
             id(node) in recorded)
        )  # fmt: skip
    form = type(result).__name__ if handles is result else ""
    return tuple(steps), tuple(numbers[id(handle._node)] for handle in handles), form


def _is_plain(handle: Any) -> bool:
    """A new array or a lazy number."""
    if type(handle) not in (core.array_class, core.scalar_class) or handle._flags:
        return False
    return bool(handle._shape) == (type(handle) is core.array_class)

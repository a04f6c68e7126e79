"""Steps on whole arrays that run at once, with no slice to take and nothing to plan: those whose
operands are in memory already, and pending calls of kernels, before what else a request needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from fusewright.ir.graph import LEAF, PART, SCALAR, InPlace, Node, contiguous_strides, memory_of
from fusewright.runtime.reuse import is_whole
from fusewright.runtime.trace import Known


def step_of(requested: Sequence[Node]) -> Node | None:
    """The step that gives all these values as they are kept, if it can run now."""
    whole = None
    for node in requested:
        if node.kind != PART or not node.op or (whole is not None and node.args[0] is not whole):
            return None
        whole = node.args[0]
    if whole is None or not isinstance(whole.value, InPlace | Known):
        return None
    return whole if all(arg.kind in (LEAF, SCALAR) for arg in whole.args) else None


def in_place_steps(requested: Sequence[Node]) -> dict[Node, list[Node]]:
    """The steps of several results that may overwrite operands, those needed first first; and which
    of their results a request needs.
    """
    found: dict[Node, list[Node]] = {}
    seen: set[Node] = set()
    stack = list(requested)
    while stack:
        node = stack[-1]
        missing = next((arg for arg in node.args if arg not in seen), None)
        if missing is not None:
            stack.append(missing)
            continue
        stack.pop()
        if node not in seen:
            seen.add(node)
            if node.kind == PART and node.op and isinstance(node.args[0].value, InPlace):
                found.setdefault(node.args[0], []).append(node)
    return found


def run(whole: Node, requested: Sequence[Node], compute: Callable[[Node, list[Any]], Any]) -> None:
    """Run the step; the values asked for become leaves, the others are there when asked for."""
    operands = [_array(arg) for arg in whole.args]
    if isinstance(whole.value, InPlace):
        whole.value.may_overwrite(_spare(whole))
    with np.errstate(all="ignore"):
        results = compute(whole, operands)
    for node in requested:
        if node.kind == PART:
            node.become_leaf(
                memory_of(results[node.attr]), 0,
                contiguous_strides(node.shape, node.dtype.itemsize),
            )  # fmt: skip


def taken(cell: list[Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """What a library step gave, the one item of a list, as an array in C order that is ours alone:
    itself where nobody else holds it, else a copy.
    """
    result = cell[0]
    plain = type(result) is np.ndarray and result.base is None and result.dtype is dtype
    if plain and result.ndim and result.flags.carray:
        del result
        if getrefcount(cell[0]) <= 2:  # the list's reference and the call's
            return cell.pop()  # type: ignore[no-any-return]
    return np.array(cell[0], dtype=dtype, order="C", ndmin=1)


def _array(node: Node) -> Any:
    if node.kind == SCALAR:
        return node.dtype.numpy.type(node.value)
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)


def _spare(whole: Node) -> frozenset[int]:
    """The operands that only this step holds, and their memory (see `runtime.reuse.spare`)."""
    found = []
    for number in range(len(whole.args)):
        leaf = whole.args[number]
        # The leaf: the step, this variable, the call.
        if leaf.kind != LEAF or getrefcount(whole.args[number]) > 3 or not is_whole(leaf):
            continue
        # The memory: the leaf, the call.
        if getrefcount(leaf.value[0]) <= 2:
            found.append(number)
    return frozenset(found)


def viewed(node: Node, source: Any) -> Any:
    """A VIEW of an array, without a copy."""
    first = tuple(slice(start, start + 1) for _, start, _ in node.attr)
    strides = [0] * len(node.shape)
    for (out, _, step), stride in zip(node.attr, source.strides, strict=True):
        if out >= 0:
            strides[out] += step * stride
    if 0 in node.shape or 0 in source.shape:
        return np.empty(node.shape, source.dtype)
    return np.lib.stride_tricks.as_strided(source[first], node.shape, strides)

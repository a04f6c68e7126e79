"""Small work that is met for the first time: operation by operation, since compiling it would take
longer than the program has use for it.

Compiling a structure costs about as much as a thousand small operations of NumPy, and many
structures are met once.  So a small slice is interpreted until that has taken as long as compiling
would; no program then waits more than twice as long as the better choice would have taken.  What
NumPy computes to the very bits of compiled code NumPy computes; everything else (elementary
functions, float sums) is compiled code for that operation alone, so that the answer to "when?" is
never visible in a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.figures import COMPILED, ELEMENT, INTERPRETED, KERNEL_ELEMENTS
from fusewright.ir import graph, ops
from fusewright.ir.exactness import is_exact, is_short_sum
from fusewright.ir.graph import InPlace, Node, contiguous_strides, memory_of
from fusewright.ir.order import LANES, sum_last
from fusewright.runtime.reuse import DEAR
from fusewright.runtime.trace import WORTH_KEEPING, Known, asked_again
from fusewright.targets.cpu.direct import viewed

NDArray = np.ndarray[Any, np.dtype[Any]]
Compute = Callable[[Node, list[Any]], Any]
Alone = Callable[[Node], float]

MOST_NODES = 2000
MOST_STRUCTURES = 1 << 14

_spent: dict[bytes, float] = {}


def interpret(
    pending: Sequence[Node],
    structure: bytes | None,
    compute: Compute,
    alone: Alone,
) -> bool:
    """Make every pending node a leaf; False, with nothing done, where that is compiled code's work.

    `compute` is what a library step means, `alone` runs compiled code of one operation and tells
    the seconds it took to compile it.
    """
    found = order_and_work(pending)
    if found is None:
        return False
    order, seconds = found
    if structure is not None and _spent.get(structure, 0.0) + seconds > COMPILED:
        return False
    began = perf_counter()
    run = _Run(compute, alone)
    with np.errstate(all="ignore"):
        for node in order:
            run.values[node] = run.value(node, [run.values[arg] for arg in node.args])
    kept = {*pending, *(arg for node in order for arg in asked_again(node))}
    for node in order:
        if node in kept or node.kind in DEAR:
            run.keep(node)
        elif node.kind in WORTH_KEEPING and type(node.value) is not Known:
            node.demands += 1
    if structure is not None:
        if len(_spent) >= MOST_STRUCTURES:
            _spent.clear()
        took = max(seconds, perf_counter() - began - run.compiling)
        _spent[structure] = _spent.get(structure, 0.0) + took
    return True


def order_and_work(pending: Sequence[Node]) -> tuple[list[Node], float] | None:
    """What a request needs, operands first, and about how many seconds it takes; None where that is
    much, or one operation that only compiled code knows.
    """
    order: list[Node] = []
    work = 0.0
    for node in graph.operands_first(pending):
        order.append(node)
        elements = prod(node.shape)
        work += 1e-9 * (INTERPRETED + elements * ELEMENT)
        if node.kind != graph.LEAF and elements > KERNEL_ELEMENTS:
            return None
    if len(order) > MOST_NODES or work > COMPILED:
        return None
    computed = [node for node in order if node.kind not in (graph.LEAF, graph.SCALAR)]
    return None if len(computed) == 1 and not _is_known(computed[0]) else (order, work)


def _is_known(node: Node) -> bool:
    """Whether an operation runs here without compiled code; short sums do where there is no core,
    which has code for them alone.
    """
    return is_exact(node) or (native is None and is_short_sum(node))


class _Run:
    """One interpretation: the values so far; those that compiled code made are leaves already."""

    __slots__ = ("alone", "compiling", "compute", "made", "values")

    def __init__(self, compute: Compute, alone: Alone) -> None:
        self.compute, self.alone = compute, alone
        self.values: dict[Node, Any] = {}
        self.made: dict[Node, Node] = {}
        self.compiling = 0.0

    def value(self, node: Node, args: list[Any]) -> Any:
        """What an operation gives."""
        kind = node.kind
        if kind == graph.LEAF:
            return _window(node)
        if kind == graph.SCALAR:
            return node.dtype.numpy.type(node.value)
        if kind == graph.VIEW:
            return _viewed(node, args[0])
        if kind == graph.MAP and node.op in UFUNCS and is_exact(node):
            result = UFUNCS[node.op](*args)
            return result if result.dtype is node.dtype.numpy else result.astype(node.dtype.numpy)
        if native is None and is_short_sum(node):
            return sum_last(args[0], LANES[node.dtype]).reshape(node.shape)
        if kind == graph.OPAQUE and isinstance(node.value, InPlace):
            node.value.may_overwrite(frozenset())
        return self.compute(node, args) if is_exact(node) else self._alone(node, args)

    def _alone(self, node: Node, args: list[Any]) -> Any:
        """The operation by compiled code, on operands in memory of their own."""
        leaves = []
        for arg, value in zip(node.args, args, strict=True):
            leaf = self.made.get(arg)
            if leaf is None:
                known = arg.kind in (graph.LEAF, graph.SCALAR)
                kind = arg.kind if known else graph.MAP  # any that has no value of its own
                leaf = Node(kind, arg.op, (), arg.dtype, arg.shape, (), arg.value)
                if arg.kind not in (graph.LEAF, graph.SCALAR):
                    _keep(leaf, value)
                self.made[arg] = leaf
            leaves.append(leaf)
        twin = Node(node.kind, node.op, tuple(leaves), node.dtype, node.shape, node.attr)
        self.compiling += self.alone(twin)
        self.made[node] = twin
        return _window(twin)

    def keep(self, node: Node) -> None:
        """The value is what the node is from now on."""
        twin = self.made.get(node)
        if twin is not None and node.kind != graph.LEAF and twin.kind == graph.LEAF:
            node.become_leaf(*twin.value)
        else:
            _keep(node, self.values[node])


UFUNCS = {name: ops.MAP[name].meaning for name in ops.EXACT - {"where", "cast"}}


def _window(leaf: Node) -> NDArray:
    memory, offset, strides = leaf.value
    return np.ndarray(leaf.shape, leaf.dtype.numpy, memory.owner, offset, strides)


def _viewed(node: Node, source: Any) -> Any:
    """A VIEW by basic indexing where that says it."""
    index: list[Any] = []
    dims = 0
    for out, start, step in node.attr:
        if out < 0:
            index.append(start)
            continue
        if out != dims or not step:
            return viewed(node, np.asarray(source))
        stop = start + step * node.shape[out]
        index.append(slice(start, stop if stop >= 0 else None, step))
        dims += 1
    if dims != len(node.shape) or 0 in node.shape:
        return viewed(node, np.asarray(source))
    return source[tuple(index)]


def _keep(node: Node, value: Any) -> None:
    """The value, in C-ordered memory of its own, is what the node is from now on."""
    if node.kind == graph.LEAF or isinstance(value, tuple):
        return
    array = np.asarray(value)
    if array.base is not None or not array.flags.carray or node.kind == graph.OPAQUE:
        array = np.array(value, dtype=node.dtype.numpy, order="C")
    node.become_leaf(memory_of(array), 0, contiguous_strides(node.shape, node.dtype.itemsize))

"""PRODUCT nodes on the CPU: computed by `products`, into memory of the pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from fusewright.ir.graph import (
    LEAF,
    PRODUCT,
    VIEW,
    Memory,
    Node,
    contiguous_strides,
    operands_first,
)
from fusewright.runtime.buffers import allocate
from fusewright.targets.cpu import products
from fusewright.targets.cpu.direct import viewed

Array = np.ndarray[Any, Any]


def run_inside(pending: Sequence[Node], compute: Callable[[list[Node]], None]) -> int:
    """Compute the products that a request needs, each after what it is made of, for which `compute`
    is called; how many there were.  Nothing fuses with them, so nothing is lost.
    """
    found = [node for node in operands_first(pending) if node.kind == PRODUCT]
    for node in found:
        wanted = [base for base in map(_base, node.args) if base.kind != LEAF]
        if wanted:
            compute(wanted)
        memory = into_pool(node, [_window(arg) for arg in node.args])
        node.become_leaf(memory, 0, contiguous_strides(node.shape, node.dtype.itemsize))
    return len(found)


def _base(node: Node) -> Node:
    """What a view looks into."""
    while node.kind == VIEW:
        node = node.args[0]
    return node


def _window(node: Node) -> Array:
    """A value in memory, or a view of one, as NumPy sees it."""
    if node.kind == VIEW:
        source: Array = viewed(node, _window(node.args[0]))
        return source
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)


def into_pool(node: Node, operands: list[Array]) -> Memory:
    """The result of a PRODUCT, in C order."""
    memory = allocate(prod(node.shape) * node.dtype.itemsize)
    left, right = operands
    out = np.ndarray(node.shape, node.dtype.numpy, memory.owner)
    products.compute(left, right, out)
    return memory

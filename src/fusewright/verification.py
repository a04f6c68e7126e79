"""`fw.options(verify=True)` for array statements, those of kernels among them: a slice runs as
planned, and its copy one statement after the other; the bits are the same, or an `InternalError`
says which value differs.

Library steps and pending kernels run once (kernels of loops compare themselves, in
`kernels.diagnostics`): what comes before and after them is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import InternalError
from fusewright.ir.graph import LEAF, OPAQUE, PART, SCALAR, Node, contiguous_strides, memory_of
from fusewright.runtime.trace import take

Evaluate = Callable[[Sequence[Node]], None]
NDArray = np.ndarray[Any, Any]


def evaluate(pending: Sequence[Node], run: Evaluate, run_alone: Evaluate) -> None:
    """Make every node a leaf, by `run`; copies of them by `run_alone`."""
    for step in _steps(pending):
        operands = [arg for arg in _operands(step) if arg.kind not in (LEAF, SCALAR)]
        if operands:
            evaluate(operands, run, run_alone)
        run([step])
    left = [node for node in pending if node.kind != LEAF]
    if not left:
        return
    twins = _copied(left)
    run_alone(twins)
    run(left)
    for node, twin in zip(left, twins, strict=True):
        if _array(node).tobytes() != _array(twin).tobytes():
            # Imported here: this happens once, if ever.
            from fusewright.ir.text import nodes_text

            text = nodes_text([node])
            raise InternalError(f"fused and unfused array statements differ in\n{text}")


def _steps(pending: Sequence[Node]) -> list[Node]:
    """What library steps and pending kernels give that is needed here, those first that others
    need.
    """
    order = take(pending).order
    parts = [node for node in order if node.kind == PART]
    known = {id(part.args[0]) for part in parts}
    return [n for n in order if n.kind == PART or (n.kind == OPAQUE and id(n) not in known)]


def _operands(step: Node) -> tuple[Node, ...]:
    if step.kind == PART:
        return step.args[0].args if step.args else ()
    return step.args if step.kind == OPAQUE else ()


def _copied(requested: Sequence[Node]) -> list[Node]:
    """The slice once more, on copies of what it reads."""
    twins: dict[Node, Node] = {}
    for node in take(requested).order:
        if node.kind == LEAF:
            twin = Node(LEAF, "", (), node.dtype, node.shape)
            strides = contiguous_strides(node.shape, node.dtype.itemsize)
            twin.value = (memory_of(np.array(_array(node), order="C")), 0, strides)
        else:
            args = tuple(twins[arg] for arg in node.args)
            twin = Node(node.kind, node.op, args, node.dtype, node.shape, node.attr, node.value)
        twins[node] = twin
    return [twins[node] for node in requested]


def _array(leaf: Node) -> NDArray:
    memory, offset, strides = leaf.value
    return np.ndarray(leaf.shape, leaf.dtype.numpy, memory.owner, offset, strides)

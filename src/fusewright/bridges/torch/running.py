"""Segments as functions of tensors: recorded once for the layouts of their inputs, then run."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import fx

from fusewright import driver
from fusewright._core import native
from fusewright.base import bounded
from fusewright.base.options import current, options
from fusewright.bridges.torch.call import Declined
from fusewright.bridges.torch.partition import GraphSegment
from fusewright.bridges.torch.recording import Result, SegmentCode, record
from fusewright.frontends.arrays import trace
from fusewright.ir.dtypes import BFLOAT16
from fusewright.ir.graph import SCALAR, Memory, Node, leaf
from fusewright.runtime.listening import listeners

MOST = 256
"""Layouts of inputs that a segment remembers; the oldest goes."""
_turn = threading.Lock()
"""Held while recorded nodes hold the values of a call."""
Plain = Callable[..., Any]


class RunningSegment:
    """A segment that runs: compiled for the structure of its inputs, with extents as arguments.

    `plain` runs the same operations as torch's own, where a layout is refused; `refused` says why.
    """

    def __init__(self, segment: GraphSegment, plain: Plain) -> None:
        self.segment = segment
        self.plain = plain
        self.refused: dict[str, int] = {}
        self.calls = 0
        self._is_fixed = all(map(_has_fixed_shape, segment.inputs))
        self._codes: dict[Any, SegmentCode | None] = {}

    def __call__(self, *given: Any) -> Any:
        if self._is_fixed:
            key: Any = (current(), *[v.stride() for v in given])
        else:
            key = (current(), *[_layout(v) for v in given])
        code = self._codes[key] if key in self._codes else self._record(key, given)
        if code is None:
            return self.plain(*given)
        self.calls += 1
        nodes = _run(code, given)
        results = code.results
        if len(nodes) == 1:
            return _tensor(nodes[0], results[0])
        return [_tensor(node, each) for node, each in zip(nodes, results, strict=True)]

    def _refuse(self, why: str) -> None:
        self.refused[why] = self.refused.get(why, 0) + 1

    def _record(self, key: Any, given: Sequence[Any]) -> SegmentCode | None:
        code = None
        try:
            code = record(self.segment, given, key[0])
        except Declined as why:
            self._refuse(str(why))
        except TypeError as why:  # operands that a row, or torch without elements, does not take
            self._refuse(f"its operands: {why}")
        bounded.keep(self._codes, key, code, MOST)
        return code


def _has_fixed_shape(node: fx.Node) -> bool:
    """Whether it is a tensor whose extents torch has compared before the graph is called."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and all(type(extent) is int for extent in value.shape)


def _layout(value: Any) -> Any:
    return (value.shape, value.stride()) if isinstance(value, torch.Tensor) else value


def _run(code: SegmentCode, given: Sequence[Any]) -> tuple[Node, ...]:
    """The results, by the core where it can."""
    threads = torch.get_num_threads()
    if code.options.threads is not None:
        threads = min(threads, code.options.threads)
    if code.runner is None:
        return _requested(code, given, threads)
    if code.program is None or native is None or listeners:
        return _run_here(code, given, threads)
    addresses = [v.data_ptr() if n else None for v, n in zip(given, code.spans, strict=True)]
    made: tuple[Node, ...] = native.run_on(
        code.program, code.order, code.leaves, code.spans, addresses, code.places, threads
    )
    return made


def _run_here(code: SegmentCode, given: Sequence[Any], threads: int) -> tuple[Node, ...]:
    """The same in Python, on the recorded nodes themselves, which are then what they were."""
    order = list(code.order)
    places = [order[place] for place in code.places]
    memories = [_memory(v, n) if n else None for v, n in zip(given, code.spans, strict=True)]
    with _turn:
        before = [(n.kind, n.op, n.args, n.attr, n.value) for n in places]
        try:
            for slot, number, offset, strides in code.leaves:
                order[slot].value = (memories[number], offset, strides)
            driver.replay(order, code.runner, code.options._replace(threads=threads))
            return tuple([leaf(n.value[0], n.dtype, n.shape, *n.value[1:]) for n in places])
        finally:
            for node, state in zip(places, before, strict=True):
                node.kind, node.op, node.args, node.attr, node.value = state
            for slot, *_ in code.leaves:
                order[slot].value = None


def _requested(code: SegmentCode, given: Sequence[Any], threads: int) -> tuple[Node, ...]:
    """A segment with products, as a request of its own: the driver runs products with what fuses
    with them.
    """
    memories = [_memory(v, n) if n else None for v, n in zip(given, code.spans, strict=True)]
    order: list[Node] = []
    bound = {slot: (number, offset, strides) for slot, number, offset, strides in code.leaves}
    for slot, (like, operands) in enumerate(zip(code.order, code.operands, strict=True)):
        if slot in bound:
            number, offset, strides = bound[slot]
            memory = memories[number]
            assert memory is not None, "a leaf looks into a tensor"
            order.append(leaf(memory, like.dtype, like.shape, offset, strides))
        elif like.kind == SCALAR:
            order.append(like)
        else:
            args = tuple([order[place] for place in operands])
            order.append(Node(like.kind, like.op, args, like.dtype, like.shape, like.attr))
    places = tuple([order[place] for place in code.places])
    del order  # what is computed on the way is freed as soon as it has been used
    with options(threads=threads, interpret=False), trace.lock:
        driver.compute(places)
    return places


def _memory(value: torch.Tensor, span: int) -> Memory:
    address = value.data_ptr()
    return Memory(address, span, (ctypes.c_char * span).from_address(address), True)


def _tensor(node: Node, result: Result) -> torch.Tensor:
    memory, offset, _ = node.value
    dtype = result.dtype
    kind = dtype.numpy if dtype is not BFLOAT16 else np.dtype(np.uint16)
    made = torch.from_numpy(np.ndarray(result.stored, kind, memory.owner, offset))
    made = made if dtype is not BFLOAT16 else made.view(torch.bfloat16)
    return made if result.is_straight else made.as_strided(result.shape, result.strides)

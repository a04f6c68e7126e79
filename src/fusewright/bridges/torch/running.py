"""Segments as functions of tensors: recorded once for the layouts of their inputs, then run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from fusewright import driver
from fusewright.base.options import current
from fusewright.bridges.torch.call import Declined
from fusewright.bridges.torch.partition import Segment
from fusewright.bridges.torch.recording import Result, SegmentCode, record
from fusewright.ir.graph import Memory, Node

MOST = 256
"""Layouts of inputs that a segment remembers; the oldest goes."""
Plain = Callable[..., Any]


class RunningSegment:
    """A segment that runs: compiled for the structure of its inputs, with extents as arguments.

    `plain` runs the same operations as torch's own, where a layout is refused; `refused` says why.
    """

    def __init__(self, segment: Segment, plain: Plain) -> None:
        self.segment = segment
        self.plain = plain
        self.refused: dict[str, int] = {}
        self.calls = 0
        self._codes: dict[Any, SegmentCode | None] = {}
        self._lock = threading.Lock()

    def __call__(self, *given: Any) -> Any:
        key = (
            current(),
            *[(v.shape, v.stride()) if isinstance(v, torch.Tensor) else v for v in given],
        )
        code = self._codes[key] if key in self._codes else self._record(key, given)
        if code is None:
            return self.plain(*given)
        self.calls += 1
        with self._lock:
            made = _run(code, given)
        return made[0] if len(made) == 1 else made

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
        if len(self._codes) >= MOST:
            del self._codes[next(iter(self._codes))]
        self._codes[key] = code
        return code


def _run(code: SegmentCode, given: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    memories = [
        Memory(value.data_ptr(), span, None, True) if span else None
        for value, span in zip(given, code.spans, strict=True)
    ]
    order = code.order
    for slot, number, offset, strides in code.leaves:
        order[slot].value = (memories[number], offset, strides)
    places = [order[each.place] for each in code.results]
    before = [(n.kind, n.op, n.args, n.attr, n.value) for n in places]
    try:
        driver.replay(order, code.runner, code.options._replace(threads=torch.get_num_threads()))
        return tuple([_tensor(node, each) for node, each in zip(places, code.results, strict=True)])
    finally:
        for node, state in zip(places, before, strict=True):
            node.kind, node.op, node.args, node.attr, node.value = state


def _tensor(node: Node, result: Result) -> torch.Tensor:
    memory, offset, _ = node.value
    array = np.ndarray(result.stored, result.dtype.numpy, memory.owner, offset)
    made = torch.from_numpy(array)
    return made if result.is_straight else made.as_strided(result.shape, result.strides)

"""The whole flow: from requested values to values in memory.

    slice -> key -> (stages -> collapse -> group -> lower -> compile -> load, on a miss) -> run

Each stage is a function from frozen value to frozen value; what is compiled is kept by the slice's structure, and object code on
disk by the text it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusewright.base.options import Options, current
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.runtime.trace import Key, Slice, computed_once, take
from fusewright.targets.reference import interpreter as reference
from fusewright.targets.cpu.runner import Runner, obtain

MOST_RUNNERS = 4096
"""Structures kept compiled in memory; the oldest goes when there are more."""

_runners: dict[Key, Runner] = {}


def evaluate(requested: Sequence[Node]) -> None:
    """Make every requested node a leaf."""
    pending = [node for node in requested if node.kind != graph.LEAF]
    if not pending:
        return
    options = current()
    if options.target == "reference":
        reference.evaluate(pending)
        return
    slice_ = take(pending)
    key = (slice_.key, options.fuse, options.features)
    runner = _runners.get(key)
    if runner is None:
        runner = _compile(key, slice_, options)
    runner.run(slice_.order, options, _by_numpy)
    computed_once(slice_)


def _by_numpy(node: Node, operands: list[Any]) -> Any:
    return reference.MEANINGS[node.kind](node, operands)


def _compile(key: Key, slice_: Slice, options: Options) -> Runner:
    if len(_runners) >= MOST_RUNNERS:
        del _runners[next(iter(_runners))]
    runner = _runners[key] = obtain(key, slice_, options)
    return runner

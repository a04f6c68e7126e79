"""A segment recorded for the layouts of its inputs: our nodes, checked step by step against what
torch says the result is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from fusewright import driver
from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.bridges.torch.convolutions import laid_out
from fusewright.bridges.torch.partition import DTYPES, GraphSegment, is_view, name_of, tensors_of
from fusewright.bridges.torch.rows import COMPUTED, CONVOLUTION, VIEWS
from fusewright.ir.dtypes import BOOL, DType, by_name
from fusewright.ir.graph import (
    LEAF,
    PRODUCT,
    RESHAPE,
    SCALAR,
    VIEW,
    Memory,
    Node,
    leaf,
    operands_first,
)

TORCH = {row: dtype for dtype, row in DTYPES.items()}
"""Torch's names of our types."""


@dataclass(slots=True)
class Result:
    """One result: its place in the slice, the shape in which it lies in memory in C order, and what
    torch's eager result has.
    """

    place: int
    stored: tuple[int, ...]
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_straight: bool
    """Whether the result in C order is what torch expects."""


@dataclass(slots=True)
class SegmentCode:
    """What a run needs: the slice with its compiled code, the input that each leaf looks into (with
    offset and strides in bytes), and the results.
    """

    order: tuple[Node, ...]
    runner: Any
    options: Options
    leaves: tuple[tuple[int, int, int, tuple[int, ...]], ...]
    spans: tuple[int, ...]
    results: tuple[Result, ...]
    places: tuple[int, ...]
    program: Any
    """The compiled code for the native core; None where that cannot run it."""
    operands: tuple[tuple[int, ...], ...]
    """The places of each node's operands."""


def _straight(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def record(segment: GraphSegment, given: Sequence[Any], options: Options) -> SegmentCode:
    """Record a segment and compile it; `given` are tensors and sizes."""
    recorder = _SegmentRecorder()
    memories: list[Memory | None] = []
    for node, value in zip(segment.inputs, given, strict=True):
        if isinstance(value, torch.Tensor):
            memories.append(recorder.input(node, value))
        else:
            memories.append(None)
            recorder.nodes[node] = recorder.metas[node] = value
    for node in segment.members:
        recorder.member(node)
    wanted, results = recorder.outputs(segment.outputs)
    if any(node.kind == PRODUCT for node in operands_first(wanted)):
        order, runner = list(operands_first(wanted)), None
    else:
        order, runner = driver.prepare(wanted, options)
        runner.trial = 0.0  # a model that is compiled runs often: the best code is made at once
    slots = {id(node): slot for slot, node in enumerate(order)}
    for node, result in zip(wanted, results, strict=True):
        result.place = slots[id(node)]
    numbers = {id(memory): number for number, memory in enumerate(memories) if memory is not None}
    leaves = []
    for slot, node in enumerate(order):
        if node.kind == LEAF:
            memory, offset, strides = node.value
            leaves.append((slot, numbers[id(memory)], offset, strides))
            node.value = None  # what was there while it was recorded
    return SegmentCode(
        tuple(order),
        runner,
        options,
        tuple(leaves),
        tuple(0 if memory is None else memory.nbytes for memory in memories),
        tuple(results),
        tuple(result.place for result in results),
        None if runner is None else driver.in_core(runner),
        tuple(tuple(slots[id(arg)] for arg in node.args) for node in order),
    )


class _SegmentRecorder:
    """`nodes` has our form of each value, `metas` torch's without its elements."""

    def __init__(self) -> None:
        self.nodes: dict[fx.Node, Any] = {}
        self.metas: dict[fx.Node, Any] = {}

    def input(self, node: fx.Node, value: torch.Tensor) -> Memory:
        """A tensor that is given."""
        shape, strides = tuple(value.shape), value.stride()
        if 0 in shape:
            raise Declined("a tensor without elements")
        meta = torch.empty_strided(shape, strides, dtype=value.dtype, device="meta")
        row = DTYPES[value.dtype]
        size = row.itemsize
        span = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        memory = Memory(value.data_ptr(), span * size, None, True)
        self.metas[node] = meta
        self.nodes[node] = leaf(memory, row, shape, 0, tuple(step * size for step in strides))
        return memory

    def member(self, node: fx.Node) -> None:
        """An operation, a view, or a part of several results."""
        args, kwargs = self._given(node, self.metas)
        if "device" in kwargs:
            kwargs = {**kwargs, "device": "meta"}
        made = self.metas[node] = _as_eager(node, node.target(*args, **kwargs), args)
        name = name_of(node)
        if name == CONVOLUTION:
            made = self.metas[node] = laid_out(made, args)
        args, kwargs = self._given(node, self.nodes)
        if name not in COMPUTED and name not in VIEWS:
            self.nodes[node] = args[0][args[1]]
        elif is_view(node) and args[0].kind == LEAF:
            self.nodes[node] = _looking(args[0], self.metas[node.args[0]], made)
        else:
            row = COMPUTED.get(name) or VIEWS[name]
            call = self._call(node, made)
            if name in COMPUTED:
                args, kwargs = fx.node.map_aggregate((args, kwargs), _widened)
            found = row.record(call, *args, **kwargs)
            self.nodes[node] = _rounded(found, made) if name in COMPUTED else found
        _check(self.nodes[node], made)

    def _given(self, node: fx.Node, values: dict[fx.Node, Any]) -> tuple[Any, Any]:
        def one(each: fx.Node) -> Any:
            return values[each]

        return fx.node.map_arg(node.args, one), fx.node.map_arg(node.kwargs, one)

    def _call(self, node: fx.Node, made: Any) -> AtenCall:
        first = next(tensors_of(made))
        operands = [
            self.metas[each] if isinstance(each, fx.Node) else each
            for each in node.args
            if isinstance(each, fx.Node | bool | int | float)
        ][:2]
        common = first.dtype
        if len(operands) == 2 and any(isinstance(each, torch.Tensor) for each in operands):
            common = torch.result_type(*operands)
        elif operands and isinstance(operands[0], torch.Tensor):
            common = operands[0].dtype
        if common not in DTYPES:
            raise Declined(f"{common} is not ours")
        types = DTYPES[first.dtype], DTYPES[common]
        result, shared = (by_name(each.compute) for each in types)
        stored = next((each for each in types if each.is_stored_only), types[0])
        return AtenCall(result, tuple(first.shape), shared, stored)

    def outputs(self, wanted: Sequence[fx.Node]) -> tuple[list[Node], list[Result]]:
        """The values to store, each in memory of its own, and what torch expects."""
        found: list[Node] = []
        results = []
        for each in wanted:
            node, meta = self.nodes[each], self.metas[each]
            if 0 in node.shape:
                raise Declined("a result without elements")
            shape, strides = tuple(meta.shape), meta.stride()
            dims = sorted(range(len(shape)), key=lambda d: (shape[d] > 1, -strides[d]))
            if [shape[d] for d in dims] and not _is_dense(shape, strides, dims):
                raise Declined("a result with gaps in memory")
            straight = strides == _straight(shape)
            stored = node if straight else nodes.permuted(node, dims)
            while stored.kind == RESHAPE:  # in C order either way
                stored = stored.args[0]
            if stored.kind in (LEAF, VIEW, SCALAR) or any(stored is other for other in found):
                stored = nodes.mapped("cast" if node.dtype is BOOL else "positive", stored)
            found.append(stored)
            lies = shape if straight else tuple(shape[d] for d in dims)
            results.append(Result(0, lies, node.dtype, shape, strides, straight))
        return found, results


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...], dims: list[int]) -> bool:
    """Whether the elements lie end to end with the dims in this order."""
    step = 1
    for d in reversed(dims):
        if shape[d] > 1:
            if strides[d] != step:
                return False
            step *= shape[d]
    return True


def _looking(base: Node, whole: torch.Tensor, made: Any) -> Any:
    """A view of memory, as torch has it."""
    if isinstance(made, list | tuple):
        return tuple(_looking(base, whole, each) for each in made)
    memory, offset, _ = base.value
    size = base.dtype.itemsize
    start = offset + (made.storage_offset() - whole.storage_offset()) * size
    return leaf(
        memory, base.dtype, tuple(made.shape), start, tuple(s * size for s in made.stride())
    )


def _as_eager(node: fx.Node, made: Any, args: Any) -> Any:
    """The types and strides of eager's results, where torch's rules for tensors without elements
    have others: eager's statistics of layer normalisation have the type of what is normalised,
    and the gradient of dropout lies as a product of its operands.
    """
    if name_of(node) == "aten.native_dropout_backward.default":
        return args[0] * args[1] * args[2]
    if name_of(node) != "aten.native_layer_norm.default":
        return made
    kinds = {each.dtype for each in args[2:4] if each is not None} or {args[0].dtype}
    kind = kinds.pop() if len(kinds) == 1 else torch.float32
    return (made[0], *(each.to(kind) for each in made[1:]))


def _widened(value: Any) -> Any:
    """What is only stored in its type is computed in another."""
    return nodes.cast(value, by_name(value.dtype.compute)) if isinstance(value, Node) else value


def _rounded(found: Any, meta: Any) -> Any:
    """The results of one operation, rounded once to the types that they are stored in."""
    if isinstance(meta, list | tuple):
        return tuple(_rounded(each, other) for each, other in zip(found, meta, strict=True))
    stored = isinstance(found, Node) and DTYPES[meta.dtype].is_stored_only
    return nodes.cast(found, DTYPES[meta.dtype]) if stored else found


def _check(node: Any, meta: Any) -> None:
    """Our value has the shape and the type of torch's."""
    if isinstance(meta, list | tuple):
        if len(node) != len(meta):
            raise Declined("another number of results")
        for each, other in zip(node, meta, strict=True):
            if each is not None:
                _check(each, other)
    elif isinstance(meta, torch.Tensor) and node is None:
        raise Declined("a result that only torch's gradient reads")
    elif isinstance(meta, torch.Tensor) and (
        node.shape != tuple(meta.shape) or TORCH.get(node.dtype) != meta.dtype
    ):
        raise Declined(f"recorded as {node}, torch has {meta.dtype}{list(meta.shape)}")

"""A graph of torch's operations as a function: segments of ours between operations of torch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import getitem
from types import SimpleNamespace
from typing import Any

import torch
from torch import fx
from torch.fx.graph import _BoxedCodeGen

from fusewright.bridges.torch.partition import (
    GraphSegment,
    Partition,
    is_mutating,
    is_view,
    partition,
)
from fusewright.bridges.torch.running import RunningSegment

QUICK: dict[str, Callable[..., Any]] = {
    "aten.mm.default": torch.mm,
    "aten.addmm.default": torch.addmm,
    "aten.bmm.default": torch.bmm,
    "aten.t.default": torch.t,
    "aten.permute.default": torch.permute,
    "aten.transpose.int": torch.transpose,
    "aten.unsqueeze.default": torch.unsqueeze,
    "aten.view.default": torch.Tensor.view,
    "aten._unsafe_view.default": torch.Tensor.view,
    "aten.expand.default": torch.Tensor.expand,
    "aten.detach.default": torch.Tensor.detach,
}
"""The same operations by functions that find them sooner."""
Boxed = Callable[[list[Any]], Any]
"""A function of one list, which it empties, so that what is no longer needed is freed."""


def compiled(
    module: fx.GraphModule, always: bool = False
) -> tuple[Boxed, Partition, list[RunningSegment]]:
    """A graph's function, what of it is ours, and that as it runs; `always` that, too, which is
    predicted to save nothing.
    """
    parts = partition(module.graph, always)
    if not parts.segments or _writes_early(module.graph):
        return _function(module.graph, module), parts, []
    writer = _Writer(parts)
    graph = writer.write(module.graph)
    for name, value in writer.running.items():
        setattr(writer.space, name, value)
    return _function(graph, module, writer.space), parts, list(writer.running.values())


def _writes_early(graph: fx.Graph) -> bool:
    """Whether anything but writes comes after a write."""
    wrote = False
    for node in graph.nodes:
        if wrote and node.op != "output" and not is_mutating(node):
            return True
        wrote = wrote or is_mutating(node)
    return False


def _function(graph: fx.Graph, module: Any, space: Any = None) -> Boxed:
    """The graph's Python code, run with what it names."""
    holder = space or SimpleNamespace()
    for node in graph.nodes:
        if node.op == "get_attr":
            _place(holder, node.target, module)
    graph.set_codegen(_BoxedCodeGen())
    code = graph.python_code("self")
    names = dict(code.globals)
    exec(compile(code.src, "<fusewright: a graph of torch>", "exec"), names)
    forward = names["forward"]

    def run(given: list[Any]) -> Any:
        return forward(holder, given)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _place(holder: Any, target: str, module: Any) -> None:
    """The attribute that a graph reads, by its dotted name."""
    *path, last = target.split(".")
    for name in path:
        module = getattr(module, name)
        if not hasattr(holder, name):
            setattr(holder, name, SimpleNamespace())
        holder = getattr(holder, name)
    setattr(holder, last, getattr(module, last))


class _Writer:
    """Writes the new graph: what torch needs, in its order; segments where first needed."""

    def __init__(self, parts: Partition) -> None:
        self.parts = parts
        self.graph = fx.Graph()
        self.made: dict[fx.Node, fx.Node] = {}
        self.space = SimpleNamespace()
        self.running: dict[str, RunningSegment] = {}

    def write(self, graph: fx.Graph) -> fx.Graph:
        """The whole."""
        written = False
        for node in graph.nodes:
            if node in self.parts.owner or (is_view(node) and node not in self.parts.theirs):
                continue
            if is_mutating(node) and not written:
                written = True
                for segment in self.parts.segments:
                    self._segment(segment)
            self.value(node)
        return self.graph

    def value(self, node: fx.Node) -> fx.Node:
        """A value as torch sees it."""
        if node not in self.made:
            segment = self.parts.owner.get(node)
            if segment is not None:
                self._segment(segment)
            else:
                for each in node.all_input_nodes:
                    self.value(each)
                self.made[node] = self._copy(node)
        return self.made[node]

    def _copy(self, node: fx.Node) -> fx.Node:
        """An operation of torch's, called without the layer of Python in front of it."""
        made = self.graph.node_copy(node, self.made.__getitem__)
        if isinstance(node.target, torch._ops.OpOverload):
            name = "call_" + str(node.target).replace(".", "_").replace(":", "_")
            setattr(self.space, name, QUICK.get(str(node.target), node.target._op))
            made.op, made.target = "call_module", name
        return made

    def _segment(self, segment: GraphSegment) -> None:
        if segment.outputs[0] in self.made:
            return
        args = tuple(self.value(each) for each in segment.inputs)
        name = f"segment_{len(self.running)}"
        self.running[name] = RunningSegment(segment, _plain(segment))
        whole = self.graph.call_module(name, args)
        if len(segment.outputs) == 1:
            self.made[segment.outputs[0]] = whole
            return
        for number, each in enumerate(segment.outputs):
            self.made[each] = self.graph.call_function(getitem, (whole, number))


def _plain(segment: GraphSegment) -> Callable[..., Any]:
    """A segment's operations as torch's own."""
    graph = fx.Graph()
    made: dict[fx.Node, fx.Node] = {}
    for number, each in enumerate(segment.inputs):
        made[each] = graph.placeholder(f"given_{number}")
    for each in segment.members:
        made[each] = graph.node_copy(each, made.__getitem__)
    outputs: Sequence[fx.Node] = [made[each] for each in segment.outputs]
    graph.output(outputs[0] if len(outputs) == 1 else tuple(outputs))
    run = _function(graph, None)
    return lambda *given: run(list(given))

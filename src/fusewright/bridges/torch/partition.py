"""Which operations of a graph run together as ours, and why the others are torch's.

Operations are sorted into levels: one of ours stands one level above what it needs of torch, one of
torch's on the level of what it needs.  Those of ours that are on one level and have to do with each
other are a segment; a segment needs only what lies below its level, so no two wait for each other.
What has effects (random numbers, writes) never stands below an earlier one of its kind, so that
their order stays.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from math import prod
from typing import Any

import torch
from torch import fx

from fusewright.base.values import dataclass
from fusewright.bridges.torch import attention, attention_gradients, convolutions, windows
from fusewright.bridges.torch.matrices import is_ours
from fusewright.bridges.torch.prices import (
    FACTORS,
    GraphPrice,
    elements,
    graph_price,
    is_tuned,
    saved,
    traced_extent,
)
from fusewright.bridges.torch.rows import ALONE as ALONE_ROWS
from fusewright.bridges.torch.rows import (
    ATTENTION,
    ATTENTION_BACKWARD,
    BACKWARD,
    COMPUTED,
    CONVERSIONS,
    CONVOLUTION,
    PRODUCTS,
    VIEWS,
)
from fusewright.ir import dtypes
from fusewright.ir.dtypes import DType

DTYPES: dict[torch.dtype, DType] = {
    torch.bool: dtypes.BOOL,
    torch.uint8: dtypes.UINT8,
    torch.int8: dtypes.INT8,
    torch.int16: dtypes.INT16,
    torch.int32: dtypes.INT32,
    torch.int64: dtypes.INT64,
    torch.float16: dtypes.FLOAT16,
    torch.bfloat16: dtypes.BFLOAT16,
    torch.float32: dtypes.FLOAT32,
    torch.float64: dtypes.FLOAT64,
}
"""The element types that are ours."""
LEAST = 2
"""Operations of a segment: one alone is torch's, as there is nothing to fuse it with."""
ALONE = "it stands alone: there is nothing to fuse it with"
SMALL = "our kernels for products are for larger ones"
SLOWER = "torch's operation is faster at these sizes"
LITTLE = "fusing it with its neighbours is predicted to save nothing"
TUNED = "torch's library has kernels for this processor with which its operation is faster"
UNKNOWN = "numbers that the integer type lacks have no value of their own"
NO_ROW = "it has no row in the table"


@dataclass(slots=True)
class GraphSegment:
    """Operations that run together: `members` in order, views among them and parts of several
    results; `inputs` come from elsewhere, `outputs` are needed elsewhere.  It is predicted to save
    `saved` nanoseconds.
    """

    members: list[fx.Node] = field(default_factory=list)
    inputs: list[fx.Node] = field(default_factory=list)
    outputs: list[fx.Node] = field(default_factory=list)
    computed: int = 0
    saved: float = 0.0


@dataclass(slots=True)
class Partition:
    """The segments, by node; for each operation of torch's why it is, and the levels."""

    segments: list[GraphSegment]
    owner: dict[fx.Node, GraphSegment]
    theirs: dict[fx.Node, str]

    def price(self, kind: str) -> GraphPrice:
        """What the graph costs, as a `forward`, `backward` or `inference` graph."""
        ours = [node for node in self.owner if node.target is not operator.getitem]
        others = [node for node, why in self.theirs.items() if why]
        return graph_price(kind, others, ours, sum(each.saved for each in self.segments))


def name_of(node: fx.Node) -> str:
    """An operation's name, `aten.add.Tensor`."""
    return str(node.target)


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a value, or in the list or tuple that it is."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_of(item)


def is_mutating(node: fx.Node) -> bool:
    """Whether an operation writes into an operand."""
    schema = getattr(node.target, "_schema", None)
    return node.op == "call_function" and bool(schema is not None and schema.is_mutable)


def _has_effects(node: fx.Node) -> bool:
    if node.op in ("placeholder", "get_attr", "output"):
        return False
    tags = getattr(node.target, "tags", ())
    known = isinstance(node.target, torch._ops.OpOverload) or _is_plain(node)
    return not known or is_mutating(node) or torch.Tag.nondeterministic_seeded in tags


def _is_plain(node: fx.Node) -> bool:
    """Whether it is arithmetic with sizes, or picks a part."""
    return getattr(node.target, "__module__", "") in ("_operator", "operator", "math", "builtins")


def why_not_ours(node: fx.Node, always: bool = False) -> str:
    """Why an operation, or a view, is not ours; empty where it is.  `always` those products are,
    too, that torch's library multiplies faster.
    """
    if name_of(node) not in COMPUTED and name_of(node) not in VIEWS:
        return NO_ROW
    given = [each.meta.get("val") for each in node.all_input_nodes]
    for tensor in tensors_of([*given, node.meta.get("val")]):
        why = _strange(tensor)
        if why:
            return why
    if name_of(node) in CONVERSIONS and _loses_numbers(given[0], node.meta["val"]):
        return UNKNOWN
    if name_of(node) == BACKWARD:
        x, weight = (each.meta["val"] for each in node.args[1:3])
        return windows.why_not_gradients(x, weight, *node.args[4:])
    return _why_no_product(node, always) if name_of(node) in PRODUCTS else ""


def _loses_numbers(x: torch.Tensor, made: torch.Tensor) -> bool:
    """Whether it converts to integers, which have no value for NaN and what is too large."""
    integers = not made.dtype.is_floating_point and made.dtype is not torch.bool
    return x.dtype.is_floating_point and integers


def _why_no_product(node: fx.Node, always: bool) -> str:
    """Sizes that are symbols count as in the call that was traced."""
    name = name_of(node)
    left, right = (node.args[place].meta["val"] for place in FACTORS[name][:2])
    shapes = [tuple(traced_extent(extent) for extent in each.shape) for each in (left, right)]
    if name in (ATTENTION, ATTENTION_BACKWARD):
        found = attention if name == ATTENTION else attention_gradients
        given = shapes[0], shapes[1], DTYPES[left.dtype]
        if not always and found.is_faster_in_torch(*given):
            return TUNED
        return "" if found.is_faster(*given) else SLOWER
    if name == CONVOLUTION:
        why = convolutions.why_not_ours(shapes[0][-1], left, right, *node.args[2:])
        if why or not convolutions.is_of_pixels(left, right, *node.args[2:]):
            return why
        (batch, k, *pixels), (n, *_) = shapes
        shapes = [(batch * prod(pixels), k), (k, n)]
    is_large = left.dtype == right.dtype and is_ours((shapes[0], shapes[1]), DTYPES[left.dtype])
    if is_large and not always and is_tuned(node):
        return TUNED
    return "" if is_large else SMALL


def _strange(tensor: torch.Tensor) -> str:
    if tensor.device.type != "cpu":
        return f"a tensor is on the device {tensor.device.type}"
    if tensor.layout is not torch.strided:
        return f"a tensor is laid out as {tensor.layout}"
    if tensor.dtype not in DTYPES:
        return f"{tensor.dtype} is not ours"
    if tensor.is_neg():
        return "a tensor is negated when it is read"
    return ""


def is_worth_alone(node: fx.Node) -> bool:
    """Whether one operation is faster as ours with nothing to fuse it with."""
    options = ALONE_ROWS.get(name_of(node))
    return options is not None and options.items() <= node.kwargs.items()


def is_view(node: fx.Node) -> bool:
    """Whether a node moves nothing."""
    if node.target is operator.getitem:
        return is_view(node.args[0])
    return node.op == "call_function" and name_of(node) in VIEWS


def partition(graph: fx.Graph, always: bool = False) -> Partition:
    """The segments of a graph; `always` whatever can be ours, if it is predicted to lose, too."""
    theirs: dict[fx.Node, str] = {}
    ours: set[fx.Node] = set()
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is operator.getitem:
            if node.args[0] in ours:
                ours.add(node)
            elif not is_view(node):
                theirs[node] = ""
            continue
        why = why_not_ours(node, always)
        if why:
            theirs[node] = "" if _is_plain(node) else why
        elif not is_view(node):
            ours.add(node)
    return _chosen(graph, list(_grouped(graph, ours, theirs)), theirs, always)


def base_of(node: fx.Node, theirs: Iterable[fx.Node]) -> fx.Node:
    """What a view looks into, as far as views are ours."""
    while is_view(node) and node not in theirs:
        node = node.args[0]
    return node


def _grouped(
    graph: fx.Graph, ours: set[fx.Node], theirs: dict[fx.Node, str]
) -> Iterator[list[fx.Node]]:
    """Operations of ours on one level that use one another's results, or the same tensors."""
    levels, groups = _levels(graph, ours), _Groups()
    for node in graph.nodes:
        if node not in ours:
            continue
        level = levels[node]
        groups.add((level, node))
        for each in node.all_input_nodes:
            base = base_of(each, theirs)
            if base not in ours:
                if isinstance(base.meta.get("val"), torch.Tensor):
                    groups.join((level, node), (level, base))
            elif levels[base] == level:
                groups.join((level, node), (level, base))
    found: dict[Any, list[fx.Node]] = {}
    for node in graph.nodes:
        if node in ours:
            found.setdefault(groups.find((levels[node], node)), []).append(node)
    for group in list(found.values())[::-1]:
        (node, *others), first = group, None
        if not others:  # what stands alone goes to what first reads it
            first = min(_readers(node, ours), key=lambda each: levels[each], default=None)
        if first is not None and levels[first] > levels[node]:
            del found[groups.find((levels[node], node))]
            levels[node] = levels[first]
            groups.join((levels[first], node), (levels[first], first))
            found[groups.find((levels[first], first))].append(node)
    places = {node: place for place, node in enumerate(graph.nodes)}
    for group in found.values():
        yield sorted(group, key=places.__getitem__)


def _levels(graph: fx.Graph, ours: set[fx.Node]) -> dict[fx.Node, int]:
    levels: dict[fx.Node, int] = {}
    last = 0
    for node in graph.nodes:
        level = 0
        inside = node in ours or is_inner_view(node, ours)  # a view's extents may be torch's
        for each in node.all_input_nodes:
            above = inside and each not in ours and not is_inner_view(each, ours)
            level = max(level, levels[each] + above)
        if node in ours:
            level = max(level, 1)
        if _has_effects(node):
            level = last = max(level, last)
        levels[node] = level
    return levels


def _readers(node: fx.Node, ours: set[fx.Node]) -> list[fx.Node]:
    """What of ours reads a value, as it is or through views; nothing where torch needs it, too."""
    found = []
    for each in node.users:
        if each in ours:
            found.append(each)
            continue
        inner = _readers(each, ours) if is_view(each) else []
        if not inner:
            return []
        found += inner
    return found


def is_inner_view(node: fx.Node, ours: set[fx.Node]) -> bool:
    """Whether a node is a view of what is ours."""
    while is_view(node) and node not in ours:
        node = node.args[0]
    return node in ours


class _Groups:
    """Sets that are put together, by a member that stands for each."""

    def __init__(self) -> None:
        self._above: dict[Any, Any] = {}

    def add(self, item: Any) -> None:
        self._above.setdefault(item, item)

    def find(self, item: Any) -> Any:
        self.add(item)
        while self._above[item] != item:
            self._above[item] = self._above[self._above[item]]
            item = self._above[item]
        return item

    def join(self, a: Any, b: Any) -> None:
        self._above[self.find(a)] = self.find(b)


def _chosen(
    graph: fx.Graph, groups: list[list[fx.Node]], theirs: dict[fx.Node, str], always: bool
) -> Partition:
    """The groups that are worth running as ours, with what they need and give."""
    owner: dict[fx.Node, GraphSegment] = {}
    segments = []
    for group in groups:
        computed = [node for node in group if node.target is not operator.getitem]
        gain = _saved(group, computed, theirs)
        why = "" if always or gain > 0 else LITTLE
        if len(computed) < LEAST and not is_worth_alone(computed[0]):
            why = ALONE
        if why:
            theirs |= {node: why if node in computed else "" for node in group}
            continue
        segment = GraphSegment(computed=len(computed), saved=gain)
        segments.append(segment)
        owner |= dict.fromkeys(group, segment)
    for segment in segments:
        _fill(segment, [node for node, its in owner.items() if its is segment], theirs)
    used = _used_elsewhere(graph, owner, theirs)
    for segment in segments:
        segment.outputs = [n for n in segment.members if n in used and n in owner]
    return Partition([each for each in segments if each.outputs], owner, theirs)


def _saved(
    group: Sequence[fx.Node], computed: Sequence[fx.Node], theirs: dict[fx.Node, str]
) -> float:
    """Nanoseconds that a group is predicted to save."""
    trial = GraphSegment()
    _fill(trial, list(group), theirs)
    inside = set(trial.members)
    outputs = [node for node in trial.members if any(user not in inside for user in node.users)]
    return saved(computed, trial.inputs, sum(map(elements, outputs)))


def _fill(segment: GraphSegment, group: list[fx.Node], theirs: dict[fx.Node, str]) -> None:
    """Members with the views between them, and inputs."""
    members: dict[fx.Node, None] = {}
    inputs: dict[fx.Node, None] = {}
    inside = set(group)

    def need(node: fx.Node) -> None:
        if node in inside:
            return
        if is_view(node) and node not in theirs:
            for each in node.all_input_nodes:
                need(each)
            members[node] = None
        else:
            inputs[node] = None

    for node in group:
        for each in node.all_input_nodes:
            need(each)
        members[node] = None
    segment.members, segment.inputs = list(members), list(inputs)


def _used_elsewhere(
    graph: fx.Graph, owner: dict[fx.Node, GraphSegment], theirs: dict[fx.Node, str]
) -> set[fx.Node]:
    """Results of segments that torch, another segment or the caller needs: of a view that torch
    needs, what it looks into.
    """
    used: set[fx.Node] = {each for its in owner.values() for each in its.inputs}
    for node in reversed(graph.nodes):
        if node.op == "output" or node in theirs or (is_view(node) and node in used):
            used.update(node.all_input_nodes)
    return used

"""What a graph costs as torch's own operations, and what segments of ours save: predicted from the
shapes it was traced with, so that who computes what does not depend on how busy the machine was.

    saved by a segment = calls and passes of torch's operations
                         - one call, and reading and writing what the segment shares with others
    worth a graph      : all that is saved > calls of AOTAutograd's layers + 3 % of eager's time
                         (8 % where it computes in 16 bits)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import torch
from torch import fx

from fusewright.base import words
from fusewright.base.values import dataclass
from fusewright.bridges.torch import attention, windows
from fusewright.bridges.torch.matrices import is_half_quick_in_torch
from fusewright.bridges.torch.rows import (
    ALONE,
    ATTENTION,
    ATTENTION_BACKWARD,
    BACKWARD,
    CONVOLUTION,
    PRODUCTS,
)
from fusewright.machine import record
from fusewright.machine import torch_operations as measured
from fusewright.machine.torch_operations import ElementTime

FRESH = 1 << 25
"""Bytes of a product's result from which it is ours where torch's library has kernels that multiply
as fast: from there on each result is mapped anew (the largest threshold to which glibc's `malloc`
adapts itself), and writing into fresh pages takes as long as a third of the product.
"""
SHORT = (torch.bfloat16, torch.float16)
FACTORS = {
    **dict.fromkeys(PRODUCTS - {ATTENTION, ATTENTION_BACKWARD, CONVOLUTION}, (-2, -1, 1)),
    CONVOLUTION: (0, 1, 1),
    "aten.convolution_backward.default": (0, 2, 2),
    ATTENTION: (0, 1, 2),
    ATTENTION_BACKWARD: (1, 2, 5),
}
"""Products: the places of two operands, and how many products of their size there are."""

_FIRST = {CONVOLUTION: 0, BACKWARD: 1}
"""The place of the images among a convolution's arguments; weights and options follow."""


@dataclass(frozen=True, slots=True)
class GraphPrice:
    """Predicted nanoseconds of one call: of eager, what segments of ours save, what the layers
    around a compiled graph cost, and by how much that may be off.
    """

    eager: float = 0.0
    saved: float = 0.0
    layers: float = 0.0
    doubt: float = 0.0

    def plus(self, other: GraphPrice) -> GraphPrice:
        return GraphPrice(
            self.eager + other.eager,
            self.saved + other.saved,
            self.layers + other.layers,
            self.doubt + other.doubt,
        )

    @property
    def is_worth(self) -> bool:
        """Whether the compiled graph is predicted to be faster, by enough to be relied on."""
        return self.saved > self.layers + self.doubt

    def __str__(self) -> str:
        return (
            f"segments of ours would save {_told(self.saved)} of {_told(self.eager)}, "
            f"and calling them costs {_told(self.layers)}"
        )


def _told(nanoseconds: float) -> str:
    return words.seconds(nanoseconds * 1e-9)


def traced_extent(extent: Any) -> int:
    """An extent; of a symbol, that of the call that was traced."""
    found = getattr(getattr(extent, "node", None), "hint", extent)
    return found if isinstance(found, int) else 0


def _tensor(node: fx.Node) -> torch.Tensor | None:
    """What a node computes, without elements; of several results the first."""
    value = node.meta.get("val")
    if isinstance(value, list | tuple):
        value = next((each for each in value if isinstance(each, torch.Tensor)), None)
    return value if isinstance(value, torch.Tensor) else None


def elements(node: fx.Node) -> int:
    """The elements of a node's first result; of a number none."""
    found = _tensor(node)
    return 0 if found is None else prod(map(traced_extent, found.shape))


def _itemsize(node: fx.Node) -> int:
    found = _tensor(node)
    return 8 if found is None else int(found.dtype.itemsize)


def result_bytes(node: fx.Node) -> int:
    """Bytes of a node's first result."""
    return elements(node) * _itemsize(node)


def multiplications(node: fx.Node) -> int:
    """Those of a product; of anything else none."""
    places = FACTORS.get(str(node.target))
    if places is None:
        return 0
    left, right = (node.args[place] for place in places[:2])
    if not isinstance(left, fx.Node) or not isinstance(right, fx.Node):
        return 0
    given = [each.meta["val"] for each in (left, right)]
    shapes = [[traced_extent(extent) for extent in each.shape] for each in given]
    if "convolution" in str(node.target):
        pixels = elements(node) if places[0] == 0 and places[2] == 1 else prod(shapes[0])
        return pixels * prod(shapes[1][1:]) * places[2]
    across = shapes[1][-2 if "attention" in str(node.target) else -1]
    return prod(shapes[0]) * across * places[2]


def _is_half(node: fx.Node) -> bool:
    made = _tensor(node)
    return made is not None and made.dtype is torch.bfloat16


def is_tuned(node: fx.Node) -> bool:
    """Whether torch's library multiplies as fast on this processor, or faster."""
    if not _is_half(node):
        return attention.is_quick_in_torch() and result_bytes(node) < FRESH
    return "convolution" in str(node.target) or is_half_quick_in_torch()


def _multiplying(node: fx.Node) -> ElementTime:
    """Nanoseconds of a whole product: of torch's where its library has kernels for the processor,
    and where it has none; of ours what is saved of fresh pages beside them.
    """
    machine, size = record.current(), _itemsize(node)
    count, name = multiplications(node), str(node.target)
    if _is_half(node) and not is_half_quick_in_torch():
        ours = count / machine.half
        if name in (ATTENTION, ATTENTION_BACKWARD):
            return ElementTime(ours * measured.UNPAIRED_ATTENTION, ours)
        return ElementTime(ours * measured.UNPAIRED, ours)
    is_half = size < 4
    rate = machine.product * (measured.HALF if is_half else 8 / size)
    ours = count / rate
    if attention.is_quick_in_torch():
        pages = result_bytes(node) / measured.PAGE * machine.page
        return ElementTime(ours + pages, ours)
    theirs = ours * (1.0 if is_half else measured.UNTUNED)
    return ElementTime(theirs, ours * (measured.RECOMPUTING if name == ATTENTION_BACKWARD else 1.0))


def _of_element(node: fx.Node) -> ElementTime:
    name = str(node.target)
    simple, elements, variants = measured.SIMPLE, measured.ELEMENTS, measured.VARIANTS
    if _is_short(node):
        simple = measured.SHORT_SIMPLE
        elements, variants = measured.SHORT_ELEMENTS, measured.SHORT_VARIANTS
    found = elements.get(name, simple)
    if "approximate" in node.kwargs:
        found = variants.get((name, str(node.kwargs["approximate"])), found)
    if name == "aten.pow.Tensor_Scalar" and node.args[1] not in (-1, 0, 1, 2, 3):
        found = measured.POWER
    if name == "aten.clone.default" and _is_turned(node):
        found = measured.TURNED
    if name in ALONE and not attention.is_quick_in_torch():  # torch's library is slower there
        found = ElementTime(max(found), found.ours)
    return found


def _is_short(node: fx.Node) -> bool:
    """Whether it reads or makes 16-bit numbers."""
    found = [_tensor(each) for each in (node, *node.all_input_nodes)]
    return any(each is not None and each.dtype in SHORT for each in found)


def _is_turned(node: fx.Node) -> bool:
    """Whether a copy's last dim is not its source's."""
    before, after = map(_tensor, (*node.all_input_nodes[:1], node))
    if before is None or after is None:
        return False
    steps = zip(after.shape, before.stride(), after.stride(), strict=True)
    return any(new == 1 and old != 1 and traced_extent(n) > 1 for n, old, new in steps)


def time(node: fx.Node) -> ElementTime:
    """Nanoseconds of one operation: a call of torch's with all its passes, and as one of ours, but
    for reading and writing.
    """
    if _is_by_channel(node):
        return _window(node)
    if multiplications(node):
        whole = _multiplying(node)
        moved = _moved(sum(map(elements, node.all_input_nodes)), elements(node))
        call = measured.CALL + measured.SHORT_PRODUCT * _is_half(node)
        return ElementTime(call + moved + whole.torch, whole.ours)
    name, each = str(node.target), _of_element(node)
    read = max(map(elements, node.all_input_nodes), default=0)
    count = max(elements(node), read) if "stack" not in name else elements(node)
    size = max(_itemsize(node), 4) / 4
    theirs, ours = each.torch * count, each.ours * count
    if 3 * 4 * count * size > record.current().second:  # two operands and a result
        theirs += (measured.FAR - 1) * measured.SIMPLE.torch * count
    theirs, ours = theirs * size, ours * size
    if "batch_norm" in name:
        channels = count // max(prod(map(traced_extent, node.meta["val"][0].shape[2:])), 1)
        theirs, ours = (
            total + channels * channel
            for total, channel in zip((theirs, ours), measured.CHANNEL, strict=True)
        )
    return ElementTime(measured.CALL + theirs, ours)


def _is_by_channel(node: fx.Node) -> bool:
    """Whether it is a convolution, or its gradients, that looks at each channel by itself."""
    place = _FIRST.get(str(node.target))
    if place is None:
        return False
    x, weight = (each.meta["val"].shape for each in node.args[place : place + 2])
    *_, transposed, _, groups = node.args[: 9 + place]
    return windows.is_by_channel(x, weight, transposed, groups)


def _window(node: fx.Node) -> ElementTime:
    """Nanoseconds of such a convolution, or of its gradients."""
    place = _FIRST[str(node.target)]
    weight = node.args[place + 1].meta["val"]
    how = windows.windows_of(weight.shape, *node.args[3 + place : 6 + place])
    count = elements(node.args[0] if place else node)
    reach = (how.taps[-1] - 1) * how.dilation[-1] + 1
    is_quick = len(how.taps) == 2 or reach <= measured.REACH
    tap, gradient = measured.WINDOW, measured.WINDOW_WEIGHT
    first, second = node.args[-1][:2] if place else (True, False)
    images = measured.WINDOWS if place or is_quick else how.count * tap.torch
    theirs = first * images + second * how.count * gradient.torch
    ours = how.count * (first * tap.ours + second * gradient.ours)
    return ElementTime(measured.WINDOW_CALL + count * theirs, count * ours)


def saved(computed: Sequence[fx.Node], inputs: Iterable[fx.Node], outputs: int) -> float:
    """Nanoseconds that a segment saves: its operations, the nodes that it reads, and how many
    elements it writes.  Negative where torch's own operations are faster.
    """
    gain = sum(each.torch - each.ours for each in map(time, computed))
    if any(multiplications(node) and _is_half(node) for node in computed):
        gain -= measured.REQUEST
    given = [each for each in inputs if isinstance(each.meta.get("val"), torch.Tensor)]
    moved = _moved(sum(map(elements, given)), outputs)
    return gain - moved - measured.SEGMENT - measured.INPUT * len(given)


def _moved(read: int, written: int) -> float:
    """Nanoseconds of reading and writing so many elements, each once."""
    far = measured.FAR if 4 * (read + written) > record.current().second else 1.0
    return (measured.READ * read + measured.WRITE * written) * far


def graph_price(
    kind: str, others: Iterable[fx.Node], computed: Iterable[fx.Node], gain: float
) -> GraphPrice:
    """A graph's price: its operations of torch's and of ours, and what its segments save."""
    others = list(others)
    layer = measured.INFERENCE if kind == "inference" else measured.TRAINING
    eager = doubt = 0.0
    for node in (*others, *computed):
        each = time(node).torch
        eager += each
        doubt += each * (measured.SHORT_SHARE if _is_short(node) else measured.LEAST_SHARE)
    return GraphPrice(eager, gain, layer.graph + layer.operation * len(others), doubt)

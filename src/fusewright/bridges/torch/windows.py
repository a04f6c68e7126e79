"""Convolutions of each channel by itself (depth-wise) whose pixels lie side by side in memory: sums
of shifted products, element by element, which join with what stands around them.

    result[n, c, i, j] = sum over a and b of weight[c, 0, a, b]
                         * padded[n, c, i * stride + a * dilation, j * stride + b * dilation]

with a and b ascending, each product and each sum rounded.  `measured` says where that is faster
than torch's kernel, and how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product as all_of
from math import prod
from typing import TYPE_CHECKING, Any

from fusewright.base.values import dataclass
from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall
from fusewright.ir.graph import Node

if TYPE_CHECKING:
    import torch

Shape = tuple[int, ...]
MOST = 64
"""Taps of a window: what is compiled grows with them."""
FLAT = 9
"""Taps of a window of two dims: larger ones take a pass for the padding, and torch's kernel has
channels in its lanes (5 x 5: 0.26 of its speed, 3 x 3: 1.1 to 1.2).
"""
WIDE = 48
"""Pixels of a row of an image: where rows are shorter, their borders take the time (14 pixels: 0.5
to 0.7 of torch's speed).
"""
SMALL = "its rows are short or its windows large: torch's kernel, with channels in lanes, is faster"
LARGE = 25
"""Taps of a window of two dims from which torch's kernel for gradients of weights is slower."""
SEVERAL = "its windows look at several channels: torch's kernel multiplies as fast as ours could"
STEPS = "its windows move by several pixels at a time: torch's kernel is faster"
TURNED = "a channel's pixels do not lie side by side in memory: torch's kernel is faster"


@dataclass(frozen=True, slots=True)
class Windows:
    """How windows lie: for each dim of the images their taps, the distance of two windows, of two
    taps, and the zeros on either side.
    """

    taps: Shape
    stride: Shape
    dilation: Shape
    padding: Shape

    @property
    def count(self) -> int:
        """Taps in all."""
        return prod(self.taps)

    def places(self) -> Iterator[Shape]:
        """The taps, the last dim's fastest."""
        return all_of(*map(range, self.taps))


def windows_of(
    weight: Shape, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> Windows:
    """Of the weights' extents, and options of one number for all dims or one each."""
    rank = len(weight) - 2
    each = (tuple(v) * (rank if len(v) == 1 else 1) for v in (stride, dilation, padding))
    return Windows(tuple(weight[2:]), *each)


def is_by_channel(x: Shape, weight: Shape, transposed: bool, groups: int) -> bool:
    """Whether each window looks at one channel, and each channel has one; by extents."""
    rank = len(weight) - 2
    by_one = weight[1] == 1 and groups == weight[0] > 1
    return rank in (1, 2) and not transposed and by_one and x[-rank - 1] == groups


def why_not_windows(x: torch.Tensor, weight: torch.Tensor, windows: Windows, width: int) -> str:
    """Why windows of single channels are torch's; empty where they are not.  `width` are the pixels
    of a row.
    """
    if not _is_straight(x, weight):
        return TURNED
    if windows.count > MOST:
        return SMALL
    if len(windows.taps) == 1:
        return ""
    if set(windows.stride) != {1}:
        return STEPS
    return "" if windows.count <= FLAT and width >= WIDE else SMALL


def _is_straight(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether results lie in C order: with two dims they lie as the images do, with one always."""
    return bool(weight.is_contiguous()) and (weight.ndim == 3 or bool(x.is_contiguous()))


def convolution(call: AtenCall, x: Node, weight: Node, bias: Node | None, windows: Windows) -> Node:
    """The sum of shifted products, and the bias."""
    made = _weighed(x, weight, windows, call.shape)
    return made if bias is None else nodes.mapped("add", made, _channels(bias, len(windows.taps)))


def _weighed(x: Node, weight: Node, windows: Windows, shape: Shape) -> Node:
    rank = len(windows.taps)
    padded = _padded(x, windows.padding)
    made: Node | None = None
    for place in windows.places():
        tap = weight
        for at in (0, *place):
            tap = nodes.selected(tap, 1, at)
        seen = _seen(padded, windows, place, shape)
        term = nodes.mapped("multiply", seen, _channels(tap, rank))
        made = term if made is None else nodes.mapped("add", made, term)
    assert made is not None, "a window has a tap"
    return made


def _padded(x: Node, padding: Shape) -> Node:
    """With zeros around each image."""
    zero = nodes.number(0, x.dtype)
    for dim, count in enumerate(padding, len(x.shape) - len(padding)):
        x = nodes.surrounded(x, dim, count, count, zero)
    return x


def _seen(padded: Node, windows: Windows, place: Shape, shape: Shape) -> Node:
    """What all windows have at one of their taps."""
    lead = len(shape) - len(place)
    steps = zip(place, windows.dilation, windows.stride, strict=True)
    for dim, (at, apart, step) in enumerate(steps, lead):
        padded = nodes.sliced(padded, dim, at * apart, shape[dim], step)
    return padded


def _channels(x: Node, rank: int) -> Node:
    """A number for each channel, beside images."""
    return nodes.viewed(x, [(0, 0, 1)], (x.shape[0], *(1,) * rank))


# ---- gradients ----------------------------------------------------------------------------------


def why_not_gradients(
    x: torch.Tensor, weight: torch.Tensor, stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int], transposed: bool, shift: Any, groups: int,
    wanted: Sequence[bool],
) -> str:  # fmt: skip
    """Why the gradients of a convolution are torch's; empty where they are not."""
    if not is_by_channel(x.shape, weight.shape, transposed, groups):
        return SEVERAL
    how = windows_of(weight.shape, stride, padding, dilation)
    if len(how.taps) == 2 and how.count < LARGE:
        return SMALL
    if not _is_straight(x, weight):
        return TURNED
    if how.count > MOST or set(how.stride) != {1} or min(_around(how)) < 0:
        return STEPS
    return ""


def _around(windows: Windows) -> Shape:
    """Zeros around the gradient, of which the images' gradient is a sum of shifted products."""
    each = zip(windows.taps, windows.dilation, windows.padding, strict=True)
    return tuple((taps - 1) * apart - before for taps, apart, before in each)


def convolution_backward(
    call: AtenCall, grad: Node, x: Node, weight: Node, _: Any, stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int], transposed: bool, shift: Any, groups: int,
    wanted: Sequence[bool],
) -> tuple[Node | None, ...]:  # fmt: skip
    """The gradients of the images, the weights and the bias."""
    how = windows_of(weight.shape, stride, padding, dilation)
    made: list[Node | None] = [None, None, None]
    if wanted[0]:
        last = [(dim, n - 1, -1) for dim, n in enumerate(how.taps, 2)]
        mirrored = nodes.viewed(weight, [(0, 0, 1), (1, 0, 1), *last], weight.shape)
        other = Windows(how.taps, how.stride, how.dilation, _around(how))
        made[0] = _weighed(grad, mirrored, other, x.shape)
    if wanted[1]:
        made[1] = _weights_gradient(grad, x, how, weight.shape)
    if wanted[2]:
        made[2] = nodes.reduced("sum", grad, (0, *range(2, len(grad.shape))), False)
    return tuple(made)


def _weights_gradient(grad: Node, x: Node, windows: Windows, shape: Shape) -> Node:
    """Of each tap the sum over all pixels: along an image first, which is one loop for all taps."""
    padded, dims = _padded(x, windows.padding), range(2, len(x.shape))
    sums = []
    for place in windows.places():
        seen = _seen(padded, windows, place, grad.shape)
        along = nodes.reduced("sum", nodes.mapped("multiply", grad, seen), dims, False)
        sums.append(nodes.reduced("sum", along, (0,), False))
    single = (shape[0], 1, 1)
    made = nodes.joined([nodes.viewed(each, [(0, 0, 1)], single) for each in sums], 2)
    return nodes.reshaped(made, shape)

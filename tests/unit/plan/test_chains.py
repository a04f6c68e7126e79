"""How chains of products are cut: what fuses, into blocks of how many rows, and why not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from time import process_time

import pytest

from fusewright.ir import graph
from fusewright.ir.dtypes import FLOAT32
from fusewright.ir.graph import Memory, Node, contiguous_strides
from fusewright.ir.products import multiplied
from fusewright.machine.record import DEFAULT
from fusewright.plan.chain_prices import UNIT
from fusewright.plan.chains import Segment, segments
from fusewright.plan.row_blocks import regions


def array(*shape: int) -> Node:
    memory = Memory(0, 0, None)
    return graph.leaf(memory, FLOAT32, shape, 0, contiguous_strides(shape, 4))


def matmul(left: Node, right: Node) -> Node:
    return multiplied("matmul", left, right, left.shape[:-2])


def mapped(name: str, *args: Node) -> Node:
    shape = max((arg.shape for arg in args), key=len)
    return Node(graph.MAP, name, args, FLOAT32, shape)


def reduced(name: str, arg: Node, axis: int) -> Node:
    shape = tuple(1 if dim == axis else n for dim, n in enumerate(arg.shape))
    return Node(graph.REDUCE, name, (arg,), FLOAT32, shape, ((axis,), True))


def perceptron(rows: int, *widths: int) -> Node:
    value = array(rows, widths[0])
    for k, n in pairwise(widths):
        value = mapped("maximum", mapped("add", matmul(value, array(k, n)), array(n)), array())
    return value


def cut(*wanted: Node, fuse: bool = True) -> tuple[list[Node], list[Segment]]:
    order = list(graph.operands_first(wanted))
    needed = frozenset(order.index(node) for node in wanted)
    return order, segments(order, needed, DEFAULT, fuse)


@pytest.mark.parametrize(
    ("rows", "widths"),
    [
        (65_536, (32, 128, 32)),
        (65_536, (64, 256, 64)),
        (32_768, (128, 512, 128)),
        (131_072, (64, 64, 64, 64)),
    ],
)
def test_narrow_chains_run_as_one(rows: int, widths: tuple[int, ...]) -> None:
    order, (segment,) = cut(perceptron(rows, *widths))
    assert segment.fused
    assert len(segment.products) == len(widths) - 1
    assert segment.rows % UNIT == 0
    assert segment.outputs == {len(order) - 1}
    kept = sum(
        segment.rows * order[slot].shape[-1] * order[slot].dtype.itemsize for slot in segment.kept
    )
    assert kept <= DEFAULT.second


@pytest.mark.parametrize(
    ("rows", "widths", "reason"),
    [
        (128, (768, 3072, 768), "stays in the last-level cache anyway"),
        (512, (1024, 1024, 1024), "stays in the last-level cache anyway"),
        (16, (768, 3072, 768), "stays in the second-level cache anyway"),
        (8192, (4096, 16, 4096), "stays in the last-level cache anyway"),
        (8192, (1024, 4096, 1024), "beside the products themselves"),
    ],
)
def test_others_are_declined_with_the_number(
    rows: int, widths: tuple[int, ...], reason: str
) -> None:
    value = matmul(perceptron(rows, *widths[:-1]), array(*widths[-2:]))
    _, found = cut(value)
    assert [segment.fused for segment in found] == [False] * (len(widths) - 1)
    assert any(reason in segment.why for segment in found)
    for segment in found:
        gain = float(segment.why.rsplit("predicted ", 1)[1].removesuffix("x"))
        assert gain < DEFAULT.chain_gain


def test_switched_off() -> None:
    _, found = cut(perceptron(65_536, 64, 256, 64), fuse=False)
    assert [segment.fused for segment in found] == [False, False]


def test_only_the_layers_that_gain_are_fused() -> None:
    """The last product is so deep that nothing it exchanges matters."""
    order, found = cut(perceptron(65_536, 64, 256, 64, 4096, 4096))
    assert [segment.fused for segment in found][-1] is False
    assert found[0].fused
    assert found[0].outputs, "what the next segment reads is stored"
    done: set[int] = set()
    for segment in found:
        for slot in segment.products:
            left = order.index(order[slot].args[0])
            assert left in done or left in segment.members or left not in _computed(order)
        done |= {*segment.members, *_computed(order)}


def _computed(order: Sequence[Node]) -> set[int]:
    return {slot for slot, node in enumerate(order) if node.kind == graph.MAP}


def test_cutting_takes_less_than_five_milliseconds() -> None:
    value = perceptron(65_536, *[64, 256] * 4)
    order = list(graph.operands_first([value]))
    needed = frozenset([len(order) - 1])
    seconds = []
    for _ in range(5):
        began = process_time()
        segments(order, needed, DEFAULT, True)
        seconds.append(process_time() - began)
    assert min(seconds) < 0.01  # 2 ms, measured


def test_a_value_over_all_rows_ends_a_region() -> None:
    x, w = array(10_000, 64), array(64, 128)
    hidden = matmul(x, w)
    scaled = mapped("multiply", hidden, reduced("sum", hidden, 0))
    result = matmul(scaled, array(128, 64))
    order = list(graph.operands_first([result]))
    first, second = regions(order)
    assert order.index(hidden) in first.dims
    assert order.index(scaled) not in first.dims
    assert {order.index(scaled), order.index(result)} <= second.dims.keys()


def test_what_reads_a_member_as_a_whole_is_outside() -> None:
    """`h @ h.T`: the right operand has all rows."""
    x, w = array(5000, 64), array(64, 128)
    hidden = matmul(x, w)
    turned = Node(graph.VIEW, "", (hidden,), FLOAT32, (128, 5000), ((1, 0, 1), (0, 0, 1)))
    result = matmul(hidden, turned)
    order = list(graph.operands_first([result]))
    found = regions(order)
    assert [sorted(region.dims) for region in found] == [
        [order.index(hidden)], [order.index(result)],
    ]  # fmt: skip
    _, cuts = cut(result)
    assert [segment.products for segment in cuts] == [
        (order.index(hidden),), (order.index(result),),
    ]  # fmt: skip


def turned(arg: Node) -> Node:
    return Node(graph.VIEW, "", (arg,), arg.dtype, arg.shape[::-1], ((1, 0, 1), (0, 0, 1)))


def test_regions_do_not_wait_for_each_other() -> None:
    """What one multiplies by rows, the other reads as a whole, and the other way round: where both
    are fused, putting them into an order never ended.
    """
    a, b = (mapped("negative", array(4096, 64)) for _ in range(2))
    first = matmul(mapped("exp", matmul(a, turned(b))), array(4096, 64))
    second = matmul(mapped("exp", matmul(b, turned(a))), array(4096, 64))
    order, found = cut(first, second)
    assert [(segment.fused, len(segment.products)) for segment in found] == [(True, 2)] * 2
    mine, others = regions(order)
    assert len(mine.dims) == len(others.dims) + 1 == 4
    done: set[int] = set()
    for segment in found:
        for slot in segment.products:
            needed = [place for place in _below(order, slot) if order[place].kind == graph.PRODUCT]
            assert done.issuperset(set(needed) - set(segment.products))
        done.update(segment.products)


def _below(order: Sequence[Node], slot: int) -> set[int]:
    """The places of all that a value is computed from."""
    args = {order.index(arg) for arg in order[slot].args}
    return args.union(*(_below(order, arg) for arg in args))


def test_a_gate_is_one_layer() -> None:
    x = array(65_536, 64)
    gate = mapped("tanh", matmul(x, array(64, 256)))
    value = matmul(mapped("multiply", gate, matmul(x, array(64, 256))), array(256, 64))
    _, (segment,) = cut(value)
    assert [len(layer.products) for layer in segment.layers] == [0, 2, 1]

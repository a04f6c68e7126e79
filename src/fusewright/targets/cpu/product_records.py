"""Products of matrices as records: what runs as one, where each value lives, what was predicted.

Only built while somebody listens, or for `fw.explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from fusewright.base.words import seconds, size
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.ir.names import name_of
from fusewright.plan import count
from fusewright.plan.chains import Segment
from fusewright.runtime.profile import Decision, KernelRecord, Operation

_SILENT = frozenset({graph.VIEW, graph.SCALAR})
_WHERE = {"memory": "in memory", "row": "in the second-level cache"}


def described(segment: Segment, nodes: Mapping[int, Node]) -> KernelRecord:
    """The record of a segment that has not run yet."""
    members = [slot for slot in sorted(segment.members) if nodes[slot].kind not in _SILENT]
    products = [nodes[slot] for slot in segment.products]
    names = [name_of(node) for node in products]
    what = " with ".join(names) if len(names) > 1 else names[0]
    return KernelRecord(
        name=", ".join(name_of(nodes[slot]) for slot in members),
        start=0.0,
        seconds=0.0,
        threads=1,
        bytes_read=sum(map(_nbytes, _inputs(segment, nodes))),
        bytes_written=sum(_nbytes(nodes[slot]) for slot in segment.outputs),
        bytes_unfused=sum(count.unfused(nodes[slot]) for slot in members),
        operations=tuple(_operation(segment, slot, nodes[slot]) for slot in members),
        decisions=(Decision(segment.fused, what, segment.why, products[0].line),),
        origin="memory",
        compile_seconds=0.0,
        llvm="",
        kind="products",
        listing=_written("\n".join(_listing(segment, nodes))),
    )


def alone(node: Node) -> KernelRecord:
    """The record of one product that is a step of its own."""
    why = "nothing stands around it that would gain"
    one = Operation(node.op, node.dtype.name, node.shape, "memory", node.line)
    return KernelRecord(
        node.op, 0.0, 0.0, 1, sum(map(_nbytes, node.args)), _nbytes(node), count.unfused(node),
        (one,), (Decision(False, node.op, why, node.line),), "memory", 0.0,
        "", "products", _written(f"{_product(node, node.shape[-2])}    # in memory"),
    )  # fmt: skip


def _written(text: str) -> Callable[[], str]:
    """A text that is written already."""
    return lambda: text


def _place(segment: Segment, slot: int) -> str:
    if slot in segment.outputs:
        return "memory"
    return "row" if slot in segment.kept else "register"


def _operation(segment: Segment, slot: int, node: Node) -> Operation:
    place = _place(segment, slot)
    return Operation(name_of(node), node.dtype.name, node.shape, place, node.line)


def _inputs(segment: Segment, nodes: Mapping[int, Node]) -> list[Node]:
    """What is read from outside, each once."""
    members = {id(nodes[slot]) for slot in segment.members}
    found = {id(arg): arg for slot in segment.members for arg in nodes[slot].args}
    return [arg for key, arg in found.items() if key not in members and arg.kind != graph.SCALAR]


def _listing(segment: Segment, nodes: Mapping[int, Node]) -> Iterator[str]:
    """The steps for a block of rows, and what the model says of them."""
    region = segment.region
    if not segment.fused:
        for slot in segment.products:
            yield f"{_product(nodes[slot], region.rows)}    # in memory"
        return
    stack = f"each of {prod(region.batch)} items, " if region.batch else ""
    rows = min(segment.rows, region.rows)
    yield f"for {stack}{rows} of {region.rows} rows at a time:"
    for layer in segment.layers:
        for slot in layer.products:
            where = _WHERE[_place(segment, slot)]
            yield f"    {_product(nodes[slot], rows)}    # {where}"
        for slot in layer.others:
            node, place = nodes[slot], _place(segment, slot)
            if place in _WHERE:
                trail = node.shape[region.dims[slot] + 1 :]
                value = f"{node.dtype.name}{[rows, *trail]}"
                yield f"    {name_of(node)} {value}    # {_WHERE[place]}"
    price = segment.together
    terms = {
        "multiplying": price.multiplying, "functions": price.functions, "moving": price.moving,
    }  # fmt: skip
    limit = max(terms, key=lambda term: terms[term])
    spelled = ", ".join(
        f"{term} {seconds(1e-9 * value)}{' (the limit)' * (term == limit)}"
        for term, value in terms.items()
    )
    yield f"# predicted for one thread: {spelled}"
    apart = segment.apart
    yield (
        f"# predicted to move: memory {size(price.far)}, caches {size(price.near)}; "
        f"apart {size(apart.far)}, {size(apart.near)}"
    )


def _product(node: Node, rows: int) -> str:
    """`matmul float32[192, 256] = [192, 64] @ [64, 256]`."""
    k, n = node.args[1].shape[-2:]
    return f"{node.op} {node.dtype.name}[{rows}, {n}] = [{rows}, {k}] @ [{k}, {n}]"


def _nbytes(node: Node) -> int:
    return prod(node.shape) * node.dtype.itemsize

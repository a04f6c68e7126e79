"""Graphs of one operation between two others, so that it is not alone; and how far two results
may be apart.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode

from fusewright.bridges.torch.graphs import compiled
from fusewright.bridges.torch.rows import ATTENTION, AtenRow

UNITS = {"bits": 0.0, "units": 8.0, "order": 64.0}
"""Units in the last place of the largest number, or of the number itself: see `is_near`."""

ROUGH = 1e-5
"""A unit of the sums that eager's attention keeps of 16-bit operands: its `exp` is short there
(20 bits).
"""


def overload(name: str) -> Any:
    space, operation, which = name.split(".")
    return getattr(getattr(getattr(torch.ops, space), operation), which)


def graph_of(row: AtenRow, args: Any, options: Any) -> tuple[fx.GraphModule, list[Any]]:
    """A graph whose tensors pass through a step before the operation, results through one after."""
    graph, given = fx.Graph(), []
    mode = FakeTensorMode()

    def placed(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            node = graph.placeholder(f"x{len(given)}")
            given.append(value)
            node.meta["val"] = mode.from_tensor(value)
            return node
        if isinstance(value, list | tuple):
            return type(value)(placed(each) for each in value)
        if isinstance(value, dict):
            return {name: placed(each) for name, each in value.items()}
        return value

    def called(target: Any, *operands: Any, **named: Any) -> fx.Node:
        node = graph.call_function(target, operands, named)
        metas = fx.node.map_arg((operands, named), lambda each: each.meta["val"])
        with mode:
            node.meta["val"] = target(*metas[0], **metas[1])
        return node

    def before(value: Any) -> Any:
        step = torch.ops.aten._to_copy.default
        return fx.node.map_arg(value, lambda each: called(step, each))

    node = called(overload(row.name), *before(placed(args)), **before(placed(options)))
    results = [node]
    if isinstance(node.meta["val"], list | tuple):
        values = list(node.meta["val"])
        results = [
            called(operator.getitem, node, number)
            for number, value in enumerate(values)
            if isinstance(value, torch.Tensor) and value.numel()
        ]
    results = [*results, *(called(torch.ops.aten._to_copy.default, each) for each in results)]
    graph.output(tuple(results))
    return fx.GraphModule({}, graph), given


def is_near(got: Any, want: Any, units: float, largest: float = 1.0, unit: float = 0.0) -> bool:
    """Whether each number is within so many units in the last place of the largest of all, or of
    what it is computed from: sums cancel, and so do activations far from zero.  A unit is `unit`
    at least.
    """
    if want.dtype.is_complex:
        return bool(torch.equal(torch.view_as_real(got), torch.view_as_real(want)))
    if not want.dtype.is_floating_point or not units:
        return bool(torch.equal(torch.isnan(got), torch.isnan(want))) and bool(
            torch.equal(got.nan_to_num(), want.nan_to_num())
        )
    bound = units * max(torch.finfo(want.dtype).eps, unit) * max(largest, _largest(want))
    return torch.allclose(got, want, rtol=0.0, atol=bound, equal_nan=True)


def _is_short(given: Any) -> bool:
    return any(each.dtype in (torch.bfloat16, torch.float16) for each in given)


def _largest(x: Any) -> float:
    """The largest finite absolute value."""
    numbers = x.detach().double().abs().flatten()
    numbers = numbers[numbers.isfinite()]
    return float(numbers.max()) if numbers.numel() else 0.0


def units_of(row: AtenRow, options: Any) -> float:
    """How many units are allowed: eager rounds `a + alpha * b` once or twice, as its loops have
    it.
    """
    return UNITS["units"] if options.get("alpha", 1) != 1 else UNITS[row.accuracy]


def equal_to_eager(row: AtenRow, args: Any, options: Any) -> bool:
    """Check one sample; whether the operation was ours."""
    module, given = graph_of(row, args, options)
    wants = module(*given)
    run, _, running = compiled(module, always=True)
    gots = run(list(given))
    largest = max([1.0, *map(_largest, given)]) if row.accuracy == "order" else 1.0
    unit = ROUGH if row.name == ATTENTION and _is_short(given) else 0.0
    for got, want in zip(gots, wants, strict=True):
        where = (row.name, [getattr(a, "shape", a) for a in args], options)
        assert got.dtype == want.dtype and got.shape == want.shape, where
        assert got.stride() == want.stride(), (where, got.stride(), want.stride())
        assert is_near(got, want, units_of(row, options), largest, unit), (where, got, want)
    memories = [got.untyped_storage().data_ptr() for got in gots if got.numel()]
    outside = [x.untyped_storage().data_ptr() for x in given]
    assert not set(memories) & set(outside)
    refused = {why for segment in running for why in segment.refused}
    assert not {why for why in refused if why.startswith("its operands")}, refused
    return any(segment.calls for segment in running)


def results_of(row: AtenRow, args: Any, options: Any = None) -> tuple[Any, Any]:
    """The first result, ours and eager's."""
    module, given = graph_of(row, args, options or {})
    want = module(*given)[0]
    return compiled(module, always=True)[0](list(given))[0], want

"""Torch's own samples of its operations as calls of our table: what eager really calls, forward
and backward, each call once for its layout.

    python -m tests.bridges.torch.op_samples [--dtype D ...] [--each N] [operation ...]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from functorch.compile import aot_function
from tests.bridges.torch.graphs import equal_to_eager
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from fusewright.bridges.torch.graphs import compiled
from fusewright.bridges.torch.rows import COMPUTED, VIEWS, AtenRow

ROWS = {**COMPUTED, **VIEWS}
DTYPES = {
    name: getattr(torch, name)
    for name in (
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    )
}
TAILS = frozenset(name.split(".")[1] for name in ROWS)
NAMES = tuple(
    sorted(
        {
            op.name
            for op in op_db
            if op.name.split(".")[-1].strip("_") in TAILS and "sparse" not in op.name
        }
        | {
            "linalg.vector_norm", "logsumexp", "matmul", "nn.functional.batch_norm",
            "nn.functional.cross_entropy", "nn.functional.group_norm",
            "nn.functional.instance_norm", "nn.functional.layer_norm", "nn.functional.linear",
            "nn.functional.normalize", "nn.functional.rms_norm",
            "nn.functional.scaled_dot_product_attention", "nn.functional.softplus", "softmax",
            "std", "stack", "unflatten",
        }
    )
)  # fmt: skip
"""Torch's names of what has a row, and of what consists of it."""
DIFFERENTIABLE = tuple(
    sorted({op.name for op in op_db if op.name in NAMES and op.supports_autograd})
)
"""Those with gradients."""
Call = tuple[AtenRow, tuple[Any, ...], dict[str, Any]]


class Calls(TorchDispatchMode):
    """The calls that have a row, with copies of what they are given; each layout once."""

    def __init__(self, seen: set[Any]) -> None:
        super().__init__()
        self.seen = seen
        self.found: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        row = ROWS.get(str(func))
        if row is not None and is_plain((args, kwargs)):
            key = (row.name, pytree.tree_map(_described, (args, kwargs)))
            if str(key) not in self.seen:
                self.seen.add(str(key))
                self.found.append((row, *pytree.tree_map(_copied, (args, kwargs))))
        return func(*args, **kwargs)


def is_plain(given: Any) -> bool:
    """Whether all tensors are strided ones of the CPU, in element types of ours."""
    tensors = [each for each in pytree.tree_leaves(given) if isinstance(each, torch.Tensor)]
    return all(
        type(each) is torch.Tensor
        and each.layout is torch.strided
        and each.device.type == "cpu"
        and each.dtype in DTYPES.values()
        and not each.is_neg()
        for each in tensors
    )


def _described(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), value.stride(), value.dtype)
    return value


def _copied(value: Any) -> Any:
    """A tensor of the same elements in the same layout, apart from everything else."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach()
    if 0 in value.shape:
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    span = 1 + sum((n - 1) * s for n, s in zip(value.shape, value.stride(), strict=True))
    flat = value.as_strided((span,), (1,), value.storage_offset()).clone()
    return flat.as_strided(value.shape, value.stride(), 0)


def calls_of(op: Any, dtype: torch.dtype, seen: set[Any], most: int) -> Iterator[Call]:
    """What eager calls for the first samples of an operation, forward and, where there are
    gradients, backward.
    """
    wants = dtype.is_floating_point and op.supports_autograd
    for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=wants)):
        if number >= most:
            break
        with Calls(seen) as calls:
            made = op(sample.input, *sample.args, **sample.kwargs)
            ends = [
                each
                for each in pytree.tree_leaves(made)
                if isinstance(each, torch.Tensor) and each.requires_grad
            ]
            starts = [
                each
                for each in pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
                if isinstance(each, torch.Tensor) and each.requires_grad
            ]
            if ends and starts:
                given = [torch.randn_like(each) for each in ends]
                torch.autograd.grad(ends, starts, given, allow_unused=True)
        yield from calls.found


def gradients(name: str, most: int) -> tuple[list[str], int]:
    """Gradients of the first samples of an operation, by our graphs, against differences of its
    results: what is wrong, and how many were compared.
    """
    wrong, count = [], 0
    for op in op_db:
        if op.name != name:
            continue
        torch.manual_seed(3)
        samples = filter(_varies, op.sample_inputs("cpu", torch.float64, requires_grad=True))
        for number, sample in enumerate(islice(samples, most)):
            leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
            places = [n for n, x in enumerate(leaves) if isinstance(x, torch.Tensor)]

            def run(*given: Any, op: Any = op, sample: Any = sample, leaves: Any = leaves,
                    places: Any = places, tree: Any = tree) -> Any:  # fmt: skip
                values = list(leaves)
                for place, value in zip(places, given, strict=True):
                    values[place] = value
                first, args, kwargs = pytree.tree_unflatten(values, tree)
                return sample.output_process_fn_grad(op(first, *args, **kwargs))

            ours = aot_function(run, lambda graph, _: compiled(graph, always=True)[0])
            try:
                count += 1
                torch.autograd.gradcheck(ours, [leaves[n] for n in places], fast_mode=True)
            except Exception as error:  # noqa: BLE001 - told with the operation
                wrong.append(f"{name}, sample {number}: {type(error).__name__}: {error}")
    return wrong, count


def _varies(sample: Any) -> bool:
    """Whether a gradient is asked for."""
    leaves = pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
    return any(isinstance(each, torch.Tensor) and each.requires_grad for each in leaves)


def checked(
    names: Iterable[str], dtypes: Iterable[torch.dtype], most: int, tell: bool = False
) -> Iterator[tuple[str, bool, str]]:
    """Of each call its row, whether it was ours, and what was wrong with it."""
    wanted = set(names)
    seen: set[Any] = set()
    for op in op_db:
        if wanted and op.name not in wanted:
            continue
        for dtype in dtypes:
            if dtype not in op.supported_dtypes("cpu"):
                continue
            torch.manual_seed(3)
            began = time.process_time()
            try:
                calls = list(calls_of(op, dtype, seen, most))
            except Exception as error:  # noqa: BLE001 - eager itself refuses the sample
                print("eager", op.name, dtype, type(error).__name__, str(error)[:200])
                continue
            for row, args, options in calls:
                try:
                    ours = equal_to_eager(row, args, options)
                    yield row.name, ours, ""
                except Exception as error:  # noqa: BLE001 - told with the operation
                    yield row.name, False, f"{op.name} {dtype}: {type(error).__name__}: {error}"
            if tell and (took := time.process_time() - began) > 1:
                print(f"{op.name} {dtype}: {took:.1f} s", flush=True)


def main() -> int:
    """Run them; tell what differs, and how many calls of each row were ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", nargs="*", default=list(DTYPES))
    parser.add_argument("--each", type=int, default=1000)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    counts: dict[str, list[int]] = {}
    dtypes = [DTYPES[name] for name in given.dtype]
    wrong = 0
    for name, ours, told in checked(given.names, dtypes, given.each, tell=True):
        count = counts.setdefault(name, [0, 0])
        count[0] += 1
        count[1] += ours
        if told:
            wrong += 1
            print(f"WRONG {name}: {told[:1500]}", flush=True)
    for name, (all_, ours) in sorted(counts.items()):
        print(f"{name}: {all_} calls, {ours} ours")
    missing = set(ROWS) - set(counts)
    print(f"no calls: {sorted(missing)}")
    print(f"{sum(count[0] for count in counts.values())} calls, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())

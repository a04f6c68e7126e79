"""`torch.compile(model, backend="fusewright")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from torch import fx
from torch._dynamo.backends.common import aot_autograd

from fusewright.bridges.torch.graphs import Boxed, compiled
from fusewright.bridges.torch.report import note
from fusewright.bridges.torch.written_out import WRITTEN_OUT

Kind = Literal["forward", "backward", "inference"]


def fusewright(
    module: fx.GraphModule, example_inputs: Sequence[Any], *, options: Any = None
) -> Callable[..., Any]:
    """Torch's graph as a function: operations of the table as compiled kernels of ours, all others
    as torch's own.

    `options={"strict": True}` makes each operation without a row an error.
    """
    strict = bool((options or {}).get("strict", False))
    unknown = set(options or ()) - {"strict"}
    if unknown:
        raise ValueError(f"the backend fusewright has no options {sorted(unknown)}; it has strict")

    def compiler(kind: Kind) -> Callable[[fx.GraphModule, Sequence[Any]], Boxed]:
        def compile_graph(graph: fx.GraphModule, given: Sequence[Any]) -> Boxed:
            run, parts, running = compiled(graph)
            note(kind, graph, parts, running, strict)
            return run

        return compile_graph

    made = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=WRITTEN_OUT,
    )
    result: Callable[..., Any] = made(module, example_inputs)
    return result

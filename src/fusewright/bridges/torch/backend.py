"""`torch.compile(model, backend="fusewright")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import TorchDynamoException

from fusewright.bridges.torch.graphs import Boxed, compiled
from fusewright.bridges.torch.report import note, refused
from fusewright.bridges.torch.written_out import WRITTEN_OUT

Kind = Literal["forward", "backward", "inference"]


def fusewright(
    module: fx.GraphModule, example_inputs: Sequence[Any], *, options: Any = None
) -> Callable[..., Any]:
    """Torch's graph as a function: operations of the table as compiled kernels of ours, all others
    as torch's own.

    Where torch cannot trace a model's writes, or nothing of an inference graph is ours, the model's
    own graph runs, without a layer in front of it.

    `options={"strict": True}` makes each operation without a row an error.
    """
    strict = bool((options or {}).get("strict", False))
    unknown = set(options or ()) - {"strict"}
    if unknown:
        raise ValueError(f"the backend fusewright has no options {sorted(unknown)}; it has strict")

    whose: list[bool] = []

    def compiler(kind: Kind) -> Callable[[fx.GraphModule, Sequence[Any]], Boxed]:
        def compile_graph(graph: fx.GraphModule, given: Sequence[Any]) -> Boxed:
            run, parts, running = compiled(graph)
            note(kind, graph, parts, running, strict)
            whose.append(bool(running) or kind != "inference")
            return run

        return compile_graph

    made = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=WRITTEN_OUT,
    )
    try:
        result: Callable[..., Any] = made(module, example_inputs)
    except (AssertionError, RuntimeError) as error:
        if isinstance(error, TorchDynamoException) or not _is_torchs(error):
            raise
        refused(str(error), strict)
        result = module.forward
    return result if not whose or any(whose) else cast("Callable[..., Any]", module.forward)


def _is_torchs(error: BaseException) -> bool:
    """Whether torch's tracing gave up, not the compiler behind it."""
    trace = error.__traceback__
    frames = []
    while trace is not None:
        frames.append(str(trace.tb_frame.f_globals.get("__name__", "")))
        trace = trace.tb_next
    return not any(name.startswith("fusewright.") for name in frames[1:])

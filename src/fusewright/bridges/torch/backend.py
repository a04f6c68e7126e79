"""`torch.compile(model, backend="fusewright")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, cast

from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import TorchDynamoException
from torch._functorch import config as functorch_config

from fusewright.bridges.torch.graphs import Boxed, compiled
from fusewright.bridges.torch.prices import GraphPrice
from fusewright.bridges.torch.report import declined, note, refused
from fusewright.bridges.torch.written_out import WRITTEN_OUT

Kind = Literal["forward", "backward", "inference"]


OPTIONS: dict[str, bool] = {"strict": False, "always": False}
"""The backend's options, with what they are where they are not given."""


def fusewright(
    module: fx.GraphModule, example_inputs: Sequence[Any], *, options: Any = None
) -> Callable[..., Any]:
    """Torch's graph as a function: operations of the table as compiled kernels of ours, all others
    as torch's own.

    Where torch cannot trace a model's writes, nothing of an inference graph is ours, or what is
    ours is predicted to save less than the layers cost that AOTAutograd puts around it, the model's
    own graph runs, without a layer in front of it.

    `options={"strict": True}` makes each operation without a row an error, `{"always": True}` has
    everything compiled that can be, whatever it is predicted to save.
    """
    strict, always = _read(options or {})
    whose: list[bool] = []
    price = GraphPrice()

    def compiler(kind: Kind) -> Callable[[fx.GraphModule, Sequence[Any]], Boxed]:
        def compile_graph(graph: fx.GraphModule, given: Sequence[Any]) -> Boxed:
            nonlocal price
            run, parts, running = compiled(graph, always)
            note(kind, graph, parts, running, strict)
            whose.append(bool(running) or (always and kind != "inference"))
            price = price.plus(parts.price(kind))
            return run

        return compile_graph

    made = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=WRITTEN_OUT,
    )
    try:
        with _gradients_at_once():
            result: Callable[..., Any] = made(module, example_inputs)
    except (AssertionError, RuntimeError) as error:
        if isinstance(error, TorchDynamoException) or not _is_torchs(error):
            raise
        refused(str(error), strict)
        return cast("Callable[..., Any]", module.forward)
    if not whose or (any(whose) and (always or price.is_worth)):
        return result
    if any(whose):
        declined(len(whose), str(price))
    return cast("Callable[..., Any]", module.forward)


def _read(options: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether to be strict, and to compile whatever can be."""
    unknown = options.keys() - OPTIONS.keys()
    if unknown:
        names = ", ".join(OPTIONS)
        raise ValueError(f"the backend fusewright has no options {sorted(unknown)}; it has {names}")
    chosen = {**OPTIONS, **options}
    return bool(chosen["strict"]), bool(chosen["always"])


def _gradients_at_once() -> AbstractContextManager[Any]:
    """Have the backward graph compiled with the forward one, as whether they are worth it is one
    question.
    """
    name = "force_non_lazy_backward_lowering"
    if not hasattr(functorch_config, name):  # in older versions of torch that is always so
        return nullcontext()
    return cast("AbstractContextManager[Any]", functorch_config.patch({name: True}))


def _is_torchs(error: BaseException) -> bool:
    """Whether torch's tracing gave up, not the compiler behind it."""
    trace = error.__traceback__
    frames = []
    while trace is not None:
        frames.append(str(trace.tb_frame.f_globals.get("__name__", "")))
        trace = trace.tb_next
    return not any(name.startswith("fusewright.") for name in frames[1:])

"""`fw.explain` and `fw.show`: what would run for a value, or what a function ran."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from time import perf_counter
from typing import Any

from fusewright import driver
from fusewright.base.errors import ArgumentError, ValueRangeError
from fusewright.base.options import current, options
from fusewright.frontends.arrays import trace
from fusewright.frontends.arrays.core import handles_in
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.kernels.kernel import Kernel
from fusewright.replay.function import Jitted
from fusewright.runtime.explanation import Explanation
from fusewright.runtime.profile import Flush, listen
from fusewright.runtime.trace import take

TEXTS = ("loops", "llvm", "asm")


class Text(str):
    """Text that an interactive session prints as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def explain_call(function: Callable[..., Any], args: Any, kwargs: Any) -> Explanation:
    """Run a function and tell every evaluation it caused; what it leaves pending is told as not
    run.  A kernel's call runs at once, with everything that its lazy arguments need.
    """
    given = handles_in([*args, *kwargs.values()])
    with listen() as profile, options(spans=True):
        before = [array._node for array in given]
        result = function(*args, **kwargs)
        written = [array for array, node in zip(given, before, strict=True) if array._node != node]
        if isinstance(function, Kernel):
            trace.evaluate(*[array._node for array in (*handles_in(result), *written)])
    notes: list[str] = []
    if isinstance(function, Jitted):
        notes += function.notes()
    for arrays, whose, what in (
        (handles_in(result), "results", "what the function returned"),
        (written, "arguments it wrote into", "such an argument"),
    ):
        pending = sum(array._node.kind != graph.LEAF for array in arrays)
        if pending:
            notes.append(
                f"{pending} of the {whose} {'is' if pending == 1 else 'are'} still pending: nobody "
                f"has asked for a value yet; fw.explain of {what} tells what is needed"
            )
    return Explanation(tuple(profile.flushes), True, tuple(notes), result)


def explain_arrays(things: Sequence[Any]) -> Explanation:
    """What would run if the values were asked for now; nothing runs."""
    notes: list[str] = []
    pending: list[Node] = []
    for thing in things:
        if not handles_in(thing):
            raise ArgumentError(
                f"fw.explain takes arrays or one function, not {type(thing).__name__}",
                help="explain what an operation returned, as in fw.explain(a + b)",
            )
    arrays = handles_in(things)
    for number, array in enumerate(arrays, 1):
        node = array._node
        if node.kind in (graph.LEAF, graph.SCALAR):
            which = f"value {number} " if len(arrays) > 1 else "the value "
            notes.append(
                f"{which}({node.dtype}{list(node.shape)}) is computed: asking for it runs nothing"
            )
        else:
            pending.append(node)
    if not pending:
        return Explanation((), False, tuple(notes))
    chosen = current()
    if chosen.target == "reference":
        notes.append("target 'reference': NumPy would compute every operation on its own")
        return Explanation((), False, tuple(notes))
    slice_ = take(pending)
    if driver.is_compiled(slice_, chosen):
        notes.append("the code for this is in memory")
    flush = Flush("fw.evaluate", None, perf_counter(), 0.0, driver.planned(slice_, chosen))
    return Explanation((flush,), False, tuple(notes))


def show(values: Any, what: str) -> Text:
    """The kernels some values need as text."""
    if what not in TEXTS:
        raise ValueRangeError(
            f"fw.show cannot show {what!r}", help=f"use one of {', '.join(TEXTS)}"
        )
    pending = [array._node for array in handles_in(values) if array._node.kind != graph.LEAF]
    if not pending and hasattr(values, "explain"):
        raise ValueRangeError(
            "fw.show shows kernels of arrays",
            help="of an @fw.kernel, kernel.explain() tells what became of its loops once it ran",
        )
    if not pending:
        raise ValueRangeError(
            "there is no kernel to show",
            why="no pending value was given: what is computed has forgotten how",
            help="show the result of an operation before its value is asked for",
        )
    return Text("\n\n".join(driver.texts(pending, current(), what)))

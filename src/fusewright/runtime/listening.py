"""Who records what runs (`runtime.profile` says what): asked at every flush, so it is all that a
process needs where nobody does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from fusewright.base.options import Options


class Listener(Protocol):
    """What is asked of a profile: evaluations are added to `flushes`; `began` says since when (in
    seconds of `time.perf_counter`); `telling` counts the seconds that its records took.
    """

    flushes: list[Any]
    began: float
    telling: float


listeners: list[Listener] = []
"""The profiles being written; empty when nobody listens."""


def interprets(options: Options) -> bool:
    """Whether small new work may run without being compiled where nobody listens: who listens wants
    to see kernels.
    """
    plain = not (options.contract or options.reassociate or options.debug or options.verify)
    return options.interpret and plain


COMPILES_LESS = "an unexplained run compiles less: new work runs operation by operation at first"
"""What is said of arrays' kernels that were compiled because somebody listened."""


class CompiledTexts(NamedTuple):
    """What was compiled for one structure, as text: its program (`ir.text`, `ir.loops.text`), its
    plan (`plan.text`, `plan.loops.text`), LLVM text, a module for each kernel, and the loop trees
    (`ir.tree.text`), of arrays after what launches them (`ir.tree.launches`).
    """

    door: Literal["arrays", "loops"]
    ir: str
    plan: str
    llvm: tuple[str, ...]
    tree: str = ""


compilations: list[Callable[[CompiledTexts], None]] = []
"""Called for every structure that this process compiles, arrays and loops alike; found in memory or
on disk, nothing is compiled.
"""
watchers: list[Callable[[bool], None]] = []
"""Called with True when the first listener comes and with False when the last one has gone."""

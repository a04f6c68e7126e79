"""How a request with products was computed, as the native core repeats it: which values first, and
then which calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fusewright._core import native
from fusewright.ir.graph import LEAF, Node
from fusewright.runtime.arguments import table
from fusewright.targets.cpu.product_calls import BoundCalls, ProductCall, base_of

MOST_BYTES = 1 << 14
"""Of the argument words of all calls: what long stacks need is not kept for another time."""


class Draft:
    """A schedule while the request runs for the first time; `slots` is how many values it needs."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.is_known = native is not None
        self.held: set[int] = set()
        self.stages: list[tuple[Any, ...]] = []
        self.owners: list[Any] = []
        self.nbytes = 0

    def first(self, nodes: Mapping[int, Node], wanted: Sequence[Node]) -> None:
        """These values, which some of the nodes are or look into, are computed now."""
        ids = {id(node) for node in wanted}
        slots = [slot for slot, node in nodes.items() if id(base_of(node)) in ids]
        self.held |= nodes.keys()
        if slots:
            self.stages.append((table([slots]), b"", b"", (), b"", b"", ()))

    def add(
        self, bound: BoundCalls | None, members: Iterable[int] = (), runners: Iterable[Any] = ()
    ) -> None:
        """These calls; `members` are what they compute, `runners` whose code they call."""
        runners = tuple(runners)
        self.is_known &= bound is not None and all(runner.is_final for runner in runners)
        if bound is None or not self.is_known:
            return
        bases = [base_of(bound.nodes[slot]) for slot in bound.operands]
        self.is_known = all(base.kind == LEAF for base in bases)
        if not self.is_known:
            return
        calls = tuple(map(_call, bound.calls.calls))
        self.nbytes += sum(len(words) for words, *_ in calls)
        self.is_known = self.nbytes <= MOST_BYTES
        self.owners += runners
        self.stages.append((
            b"", table(bound.results), table([bound.operands]),
            tuple(base.value[2] for base in bases), table([bound.calls.rooms]), table([members]),
            calls,
        ))  # fmt: skip

    def made(self) -> Any:
        """What the core runs."""
        held = table([sorted(self.held)])
        return native.Schedule(self.slots, held, tuple(self.stages), tuple(self.owners))


def _call(call: ProductCall) -> tuple[Any, ...]:
    numbers = [
        (word, number.slot, native.dtype_number(number.dtype), number.part)
        for word, number in call.numbers
    ]
    return (
        call.words.tobytes(), table(call.addresses), table(numbers), call.code, call.units,
        call.grain, call.scratch, call.threads,
    )  # fmt: skip

"""Vector loops that write past the caches, where what they write lies in whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce

from fusewright.codegen.derived import Derived
from fusewright.codegen.reading import Reading
from fusewright.ir.tree.nodes import Anchor, LaneMapping, Tree


class NonTemporal(Reading):
    """A kernel being written, with some stores past the caches."""

    def __init__(self, tree: Tree, avx512: bool, derived: Derived | None = None) -> None:
        super().__init__(tree, avx512, derived)
        self.is_past = False

    def first_element(self, anchor: Anchor) -> str:
        """The number of the element, counted from address 0."""
        return self.memory.element(anchor.buffer, [self.settled(e) for e in anchor.indices])

    def forms(self, lanes: LaneMapping, origin: str | None) -> Iterator[tuple[str, frozenset[int]]]:
        """The tests under which a loop, whose whole vectors lie as `origin` says, writes which
        arrays past the caches; no test where there is one form only.
        """
        past = lanes.past
        if not past or lanes.anchor is None:  # without an anchor they are known to lie so
            yield "", past
            return
        builder = self.builder
        apart = [
            builder.value(f"sub i64 {self.first_element(anchor)}, {origin}")
            for anchor in lanes.nontemporal
        ]
        apart = [builder.value(f"and i64 {each}, {lanes.width - 1}") for each in apart]
        over = reduce(lambda a, b: builder.value(f"or i64 {a}, {b}"), apart)
        yield builder.value(f"icmp eq i64 {over}, 0"), past
        yield builder.value(f"icmp ne i64 {over}, 0"), frozenset()

    @contextmanager
    def past_caches(self, lanes: LaneMapping, past: frozenset[int]) -> Iterator[None]:
        """While a loop is written that stores past the caches."""
        memory = self.memory
        is_known = lanes.anchor is None and lanes.origin is None
        memory.past, memory.aligned = past, is_known and bool(past)
        self.is_past |= bool(past)
        yield
        memory.past, memory.aligned = frozenset(), False

    def text(self, name: str, first: str = "%args") -> str:
        """The function; other threads see what it has written past the caches."""
        if self.is_past:
            self.builder.line("call void @llvm.x86.sse.sfence()")
        return super().text(name, first)

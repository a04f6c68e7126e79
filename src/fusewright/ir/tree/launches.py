"""The outermost level of a request's trees: which runs after which, as text that parses back.

    library b2 from b0, b1
    launch 0 reads b2 writes b3
    barrier
    release b2
    launch 1 reads b3 writes b4
    barrier
    complete b4
    release b3

A kernel's tree is launched by its number, a library step runs on whole arrays.  What a launch reads
and writes is in flight until a barrier; `check_launches` requires one in front of whatever touches
it.  (The CPU's launcher returns when all parts are done: its launches end at their barriers.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from fusewright.base.errors import InternalError
from fusewright.ir.nest import Alias, Library


class TreeLaunch(NamedTuple):
    """All units of a kernel's tree run; values by their slots.  What `updates` names is written on
    the memory of another value, which nobody reads any more: (new, old).
    """

    tree: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    updates: tuple[tuple[int, int], ...] = ()

    @property
    def overwritten(self) -> set[int]:
        """The values whose memory it writes on."""
        return {old for _, old in self.updates}


class Barrier(NamedTuple):
    """What has been launched is done."""


class Completion(NamedTuple):
    """Results that no later step writes: those who asked may have them."""

    slots: tuple[int, ...]


class Release(NamedTuple):
    """Values that no later step reads: their memory may become another's."""

    slots: tuple[int, ...]


Work = TreeLaunch | Library | Alias
LaunchNode = Work | Barrier | Completion | Release


def reads_of(node: LaunchNode) -> set[int]:
    """The values that a step reads."""
    if isinstance(node, TreeLaunch):
        return {*node.reads, *node.overwritten}
    if isinstance(node, Library):
        return set(node.reads)
    return {node.source} if isinstance(node, Alias) else set()


def writes_of(node: LaunchNode) -> set[int]:
    """The values that a step makes."""
    if isinstance(node, TreeLaunch):
        return set(node.writes)
    return {node.slot} if isinstance(node, Library | Alias) else set()


class Flight:
    """What launches may still be reading or writing; values that share memory are one."""

    def __init__(self) -> None:
        self._reading: set[int] = set()
        self._writing: set[int] = set()
        self._root: dict[int, int] = {}

    def waits(self, node: LaunchNode) -> bool:
        """Whether a step needs a barrier in front of it."""
        if isinstance(node, Completion | Release):
            return bool(self._roots(node.slots) & (self._reading | self._writing))
        read = self._roots(reads_of(node))
        overwritten = node.overwritten if isinstance(node, TreeLaunch) else set()
        written = self._roots(writes_of(node) | overwritten)
        return bool(read & self._writing or written & (self._reading | self._writing))

    def take(self, node: LaunchNode) -> None:
        """A step that has waited where it needs to."""
        if isinstance(node, Barrier):
            self._reading, self._writing = set(), set()
        elif isinstance(node, Alias):
            self._root[node.slot] = self._root.get(node.source, node.source)
        elif isinstance(node, TreeLaunch):
            self._root |= {new: self._root.get(old, old) for new, old in node.updates}
            self._reading |= self._roots(reads_of(node))
            self._writing |= self._roots(writes_of(node))

    def _roots(self, slots: Collection[int]) -> set[int]:
        return {self._root.get(slot, slot) for slot in slots}


class Run(NamedTuple):
    """A step with the results that are complete after it, and the values released."""

    work: Work
    complete: tuple[int, ...]
    release: tuple[int, ...]


def runs_of(nodes: Collection[LaunchNode]) -> Iterator[Run]:
    """The steps for a launcher that waits after each."""
    work: Work | None = None
    complete: tuple[int, ...] = ()
    release: tuple[int, ...] = ()
    for node in nodes:
        if isinstance(node, Completion):
            complete += node.slots
        elif isinstance(node, Release):
            release += node.slots
        elif not isinstance(node, Barrier):
            if work is not None:
                yield Run(work, complete, release)
            work, complete, release = node, (), ()
    if work is not None:
        yield Run(work, complete, release)


# -- well-formedness -------------------------------------------------------------------------------


def check_launches(
    nodes: Collection[LaunchNode], outputs: Collection[int], leaves: Collection[int]
) -> None:
    """Raise an `InternalError` where a step reads what is not there (any more), touches what is in
    flight, or a result is not complete.  `leaves` are in memory already.
    """
    there, gone, done = set(leaves), set[int](), set[int]()
    flight = Flight()
    for number, node in enumerate(nodes):
        where = f"step {number}"
        _require(not flight.waits(node), f"{where} needs a barrier in front of it")
        missing = reads_of(node) - there
        _require(not missing, f"{where} reads {sorted(missing)}, which are not there")
        again = writes_of(node) & (done | gone)
        _require(not again, f"{where} writes {sorted(again)}, which are complete or released")
        if isinstance(node, Completion | Release):
            none = set(node.slots) - there
            _require(not none, f"{where} names {sorted(none)}, which are not there")
        if isinstance(node, Completion):
            done |= {*node.slots}
        if isinstance(node, Release):
            there -= {*node.slots}
            gone |= {*node.slots}
        there |= writes_of(node)
        flight.take(node)
    wanted = set(outputs) - set(leaves)
    _require(done == wanted, f"complete are {sorted(done)}, asked for {sorted(wanted)}")


def _require(right: bool, what: str) -> None:
    if not right:
        raise InternalError(f"the launches are not well formed: {what}", ("slice", "plan", "tree"))


# -- text ------------------------------------------------------------------------------------------


def launches_text(nodes: Collection[LaunchNode]) -> str:
    """A line for each."""
    return "".join(f"{_line(node)}\n" for node in nodes)


def _line(node: LaunchNode) -> str:
    if isinstance(node, TreeLaunch):
        updates = ", ".join(f"b{new} on b{old}" for new, old in node.updates)
        parts = (("reads", _names(node.reads)), ("writes", _names(node.writes)), ("with", updates))
        return f"launch {node.tree}" + "".join(f" {word} {text}" for word, text in parts if text)
    if isinstance(node, Library):
        return f"library b{node.slot}" + (f" from {_names(node.reads)}" if node.reads else "")
    if isinstance(node, Alias):
        return f"alias b{node.slot} of b{node.source}"
    if isinstance(node, Barrier):
        return "barrier"
    return f"{'complete' if isinstance(node, Completion) else 'release'} {_names(node.slots)}"


def _names(slots: Collection[int]) -> str:
    return ", ".join(f"b{slot}" for slot in slots)


_NAMES = r"(b\d+(?:, b\d+)*)"
_LAUNCH = re.compile(rf"launch (\d+)(?: reads {_NAMES})?(?: writes {_NAMES})?(?: with (.+))?")
_UPDATE = re.compile(r"b(\d+) on b(\d+)")
_LIBRARY = re.compile(rf"library b(\d+)(?: from {_NAMES})?")
_ALIAS = re.compile(r"alias b(\d+) of b(\d+)")
_SLOTS = re.compile(rf"(complete|release) {_NAMES}")


def parse_launches(text: str) -> tuple[LaunchNode, ...]:
    """The nodes a text says; `ValueError` with the line where it says none."""
    return tuple(map(_parsed, filter(None, map(str.strip, text.splitlines()))))


def _parsed(line: str) -> LaunchNode:
    if line == "barrier":
        return Barrier()
    if found := _LAUNCH.fullmatch(line):
        updates = tuple((int(new), int(old)) for new, old in _UPDATE.findall(found[4] or ""))
        return TreeLaunch(int(found[1]), _slots(found[2]), _slots(found[3]), updates)
    if found := _LIBRARY.fullmatch(line):
        return Library(int(found[1]), _slots(found[2]))
    if found := _ALIAS.fullmatch(line):
        return Alias(int(found[1]), int(found[2]))
    if found := _SLOTS.fullmatch(line):
        return (Completion if found[1] == "complete" else Release)(_slots(found[2]))
    raise ValueError(f"{line!r} is no launch, library step, alias, barrier or release")


def _slots(text: str | None) -> tuple[int, ...]:
    return tuple(int(name[1:]) for name in re.findall(r"b\d+", text or ""))

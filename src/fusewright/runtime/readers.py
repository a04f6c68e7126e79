"""Who else reads the memory that a new version would be written into."""

from __future__ import annotations

from collections.abc import Set
from sys import getrefcount

from fusewright.ir.graph import LEAF, Memory, Node


def is_read(pending: list[Node], memory: Memory, slots: Set[Node]) -> bool:
    """Whether a node outside the slice, which not only lists hold, has an operand in the memory.

    `pending` is a copy of a list of what is pending.
    """
    # 3: the list that it stands on, its copy and the call
    alive = (pending[i] for i in range(len(pending)) if getrefcount(pending[i]) > 3)
    args = (arg for each in alive if each not in slots for arg in each.args)
    return any(arg.kind == LEAF and arg.value[0] is memory for arg in args)

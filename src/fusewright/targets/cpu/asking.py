"""What the driver asks of the native core, and what the core needs to run a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusewright._core import native
from fusewright.base import bounded
from fusewright.ir.graph import PRODUCT, Node, operands_first
from fusewright.targets.cpu import threads  # noqa: F401  # it tells the core how to launch

MOST_NODES = 2048
"""As in `_core/core.h`."""
MOST_MET = 4096
_met: dict[bytes, None] = {}


def structure() -> bytes | None:
    """What the core calls the structure of the request it has just left to us, if it is one for a
    program.
    """
    return None if native is None else native.take_missed()


def structure_of_products(nodes: Sequence[Node]) -> bytes | None:
    """The same of a request with products, if it was one for these nodes."""
    found: bytes | None = None if native is None else native.take_missed_products(tuple(nodes))
    return found


def is_met_again(structure: bytes) -> bool:
    """Whether a request with products has been met before: one that runs once gains nothing from
    code of what surrounds them that is compiled, or loaded, meanwhile.
    """
    if structure in _met:
        return True
    bounded.keep(_met, structure, None, MOST_MET)
    return False


def holds_products(pending: Sequence[Node]) -> bool:
    """Whether a request needs products: what computes them takes a while to load."""
    return any(node.kind == PRODUCT for node in operands_first(pending))


def compute(*nodes: Node) -> bool:
    """Make nodes leaves if the core knows a program for what they need."""
    return native is not None and bool(native.compute(*nodes))


def unfused(*nodes: Node) -> bool:
    """Make nodes leaves operation by operation, if they can run so."""
    return native is not None and bool(native.unfused(*nodes))


def is_too_long(count: int) -> bool:
    """Whether a request has more nodes than the core walks (`MOST_STRUCTURE_NODES`)."""
    return native is not None and count > MOST_NODES


def may_hold_groups() -> bool:
    """Whether there may be pending calls of kernels."""
    return native is None or native.groups_alive() > 0


def learn(structure: bytes, program: Any) -> None:
    """Let the core run a structure by itself from now on; None leaves it to us."""
    native.learn(structure, program)


def forget() -> None:
    """Let the core ask for everything again."""
    if native is not None:
        native.forget()

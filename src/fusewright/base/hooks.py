"""The upward calls: front ends ask for values, and the driver (a layer they do not know) computes
them; under `strict` they ask what is not compiled.

`evaluate` is a slot, not a registry.  The driver fills it when it is loaded, and is loaded for the
first request that the native core does not run operation by operation (`fusewright.unfused`): a
program without arrays of ours, or with few, needs no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusewright._core import native
from fusewright.base.later import load
from fusewright.base.options import current

DRIVER, UNFUSED = "fusewright.driver", "fusewright.unfused"
SUPPORT = "fusewright.plan.support"
STRICTNESS = "fusewright.frontends.arrays.strictness"


def _first(nodes: Sequence[Any]) -> None:
    """The first request: from here on the core runs by itself what it can."""
    if native is not None:
        load(UNFUSED)
        if evaluate is _first:  # else another thread, or a signal's handler, has come further
            set_evaluate(_left, driver=True)
        if native.compute(*nodes):
            return
    _left(nodes)


def _left(nodes: Sequence[Any]) -> None:
    """The first request that the core leaves: from here on the driver itself is in the slot."""
    load(DRIVER)
    evaluate(nodes)


evaluate: Callable[[Sequence[Any]], None] = _first
"""Turn every node given into a leaf (a value in memory), in place."""


is_driver = False
"""Whether the slot holds the driver, or what loads it: the native core may run what it knows."""


def set_evaluate(function: Callable[[Sequence[Any]], None], driver: bool = False) -> None:
    """Fill the slot."""
    global evaluate, is_driver
    evaluate, is_driver = function, driver
    if native is not None:
        native.set_native(driver)


def load_driver() -> None:
    """Load what computes values, before the first is asked for."""
    load(DRIVER)


def look_at(node: Any, pending: list[Any]) -> None:
    """Under `strict`, an error where a value that has just been recorded is not compiled; it is
    then not `pending`.
    """
    if current().strict:
        load(STRICTNESS).refuse_node(node, pending)


def why_uncompiled(node: Any) -> str:
    """Why a node is not compiled; empty where it is."""
    return str(load(SUPPORT).why_library(node))

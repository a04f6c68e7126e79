"""The one upward call: front ends ask for values, and the driver (a layer they do not know)
computes them.

`evaluate` is a slot, not a registry.  The driver fills it when it is loaded, and is loaded when the
first value is asked for: a program without arrays of ours needs no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from fusewright._core import native

DRIVER = "fusewright.driver"


def _first(nodes: Sequence[Any]) -> None:
    """The first request: from here on the driver itself is in the slot, behind the core."""
    import_module(DRIVER)
    if native is None or not native.compute(*nodes):
        evaluate(nodes)


evaluate: Callable[[Sequence[Any]], None] = _first
"""Turn every node given into a leaf (a value in memory), in place."""


is_driver = False
"""Whether the slot holds the driver, so that the native core may run what it knows by itself."""


def set_evaluate(function: Callable[[Sequence[Any]], None], driver: bool = False) -> None:
    """Fill the slot."""
    global evaluate, is_driver
    evaluate, is_driver = function, driver
    if native is not None:
        native.set_native(driver)

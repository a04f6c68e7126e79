"""The one upward call: front ends ask for values, and the driver (a layer they do not know)
computes them.

`evaluate` is a slot, not a registry.  `fusewright.api` fills it when the package is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusewright._core import native


def _nobody_home(nodes: Sequence[Any]) -> None:
    raise RuntimeError("fusewright.api has not been imported: nothing can be evaluated yet")


evaluate: Callable[[Sequence[Any]], None] = _nobody_home
"""Turn every node given into a leaf (a value in memory), in place."""


is_driver = False
"""Whether the slot holds the driver, so that the native core may run what it knows by itself."""


def set_evaluate(function: Callable[[Sequence[Any]], None], driver: bool = False) -> None:
    """Fill the slot."""
    global evaluate, is_driver
    evaluate, is_driver = function, driver
    if native is not None:
        native.set_native(driver)

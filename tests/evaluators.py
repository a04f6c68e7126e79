"""Which evaluator computes values in the tests of the array front end.

`FUSEWRIGHT_TEST_EVALUATOR` is `reference` (the default: plain NumPy, node by node) or `driver`
(the compiler).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from fusewright.base import hooks
from fusewright.targets.reference import evaluate

COMPILED = os.environ.get("FUSEWRIGHT_TEST_EVALUATOR", "reference") == "driver"


@contextmanager
def installed() -> Iterator[None]:
    """Fill the hook for a test, and put back what was there."""
    if COMPILED:
        importlib.import_module("fusewright.api")
    before = hooks.evaluate
    if not COMPILED:
        hooks.set_evaluate(evaluate)
    try:
        yield
    finally:
        hooks.set_evaluate(before)

"""Which evaluators compute values in the tests of the array front end: `reference` (plain NumPy,
node by node), `driver` (the compiler), and `interpreted` (the compiler, small work at once: what
users have).

`FUSEWRIGHT_TEST_EVALUATOR` names the only one to use; without it every test runs under all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import fusewright as fw
from fusewright import driver
from fusewright.base import hooks
from fusewright.base.options import set_defaults
from fusewright.frontends.arrays import immediate, trace
from fusewright.targets import reference

FUNCTIONS = {
    "reference": reference.evaluate,
    "driver": driver.evaluate,
    "interpreted": driver.evaluate,
}
_only = os.environ.get("FUSEWRIGHT_TEST_EVALUATOR", "")
current = "driver"
EVALUATORS = [_only] if _only else list(FUNCTIONS)


def compiles() -> bool:
    """Whether the compiler computes the values of the running test."""
    return hooks.evaluate is driver.evaluate


@contextmanager
def installed(name: str) -> Iterator[None]:
    """Fill the hook, and put back what was there."""
    global current
    before = hooks.evaluate, hooks.is_driver
    current, outer = name, current
    trace.flush()
    hooks.set_evaluate(FUNCTIONS[name], driver=name != "reference")
    set_defaults(interpret=name == "interpreted")
    try:
        yield
    finally:
        trace.flush()
        current = outer
        set_defaults(interpret=outer == "interpreted")
        hooks.set_evaluate(*before)


def begin() -> None:
    """Past the first steps of a program, which are recorded however small they are."""
    x = fw.asarray(np.ones(3))
    for _ in range(2 * immediate.RECORDED):
        x[0] = 1.0
        x.dot(x)

"""Costs are counted on the compiled path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import fusewright as fw
from fusewright import driver
from fusewright.base import hooks
from fusewright.frontends.arrays import trace


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    """The compiler computes, nothing is pending from another test, and no kernel is in memory."""
    before = hooks.evaluate, hooks.is_driver
    hooks.set_evaluate(driver.evaluate, driver=True)
    trace.flush()
    fw.cache_clear()
    yield
    hooks.set_evaluate(*before)

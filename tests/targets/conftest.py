"""Every test of this folder runs on every target that takes `target`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import fusewright as fw
from fusewright import driver
from fusewright.base import hooks
from fusewright.base.options import TARGETS


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """Values are computed by this target."""
    before = hooks.evaluate, hooks.is_driver
    hooks.set_evaluate(driver.evaluate, driver=True)
    with fw.options(target=request.param):
        yield request.param
    hooks.set_evaluate(*before)

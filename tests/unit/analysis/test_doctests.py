"""The examples in the analysis' docstrings, and in the page about it, are what happens."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest
from tests.unit.analysis.test_traps import CARRIED, NOT_FUSED

import fusewright.analysis

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "legality.md"
MODULES = [module.name for module in pkgutil.iter_modules(fusewright.analysis.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(f"fusewright.analysis.{name}")
    assert doctest.testmod(module).failed == 0


def test_the_page_shows_real_texts():
    page = PAGE.read_text(encoding="utf-8")
    assert NOT_FUSED in page
    assert CARRIED in page
    for name in ("pairs.compare", "carried.order", "alias.signature", "linearised.taken_apart"):
        module, function = name.split(".")
        assert hasattr(importlib.import_module(f"fusewright.analysis.{module}"), function)
        assert name in page

"""Parsing in several threads at once."""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fusewright.base.source import parse_expression, parse_module

TEXT = "def kernel(x):\n    for i in range(9):\n        x[i] = " + "(" * 40 + "x[i]" + " + 1)" * 40


@pytest.fixture
def turns() -> Iterator[None]:
    """Threads take turns inside the parser: collections stand in it, and let others run."""

    def turn(phase: str, facts: dict[str, int]) -> None:
        time.sleep(0)

    before, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(turn)
    gc.set_threshold(20)
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        gc.callbacks.remove(turn)
        gc.set_threshold(*before)
        sys.setswitchinterval(interval)


def test_threads_parse_at_once(turns: None) -> None:
    expected = ast.dump(ast.parse(TEXT))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: ast.dump(parse_module(text)), [TEXT] * 160))
    assert set(found) == {expected}


def test_syntax_errors_stay_what_they_are() -> None:
    with pytest.raises(SyntaxError) as error:
        parse_module("x = = 1", "there.py")
    assert error.value.filename == "there.py"
    assert ast.dump(parse_expression("a + 1")) == ast.dump(ast.parse("a + 1", mode="eval").body)

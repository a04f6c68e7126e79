"""The page on torch lists the rows that there are."""

from __future__ import annotations

from tools.torch_table import PAGE, page


def test_the_table_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "python -m tools.torch_table --write"

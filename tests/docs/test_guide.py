"""Every page of the guide runs, and prints what it says it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.pages import GUIDE, blocks_of, run_page, shape_of

PAGES = sorted(GUIDE.glob("*.md"))
RUN_BY_HAND = {"faq", "glossary", "index"}
"""Pages without programs."""


def test_the_pages_are_there() -> None:
    numbered = [path.stem for path in PAGES if path.stem not in RUN_BY_HAND]
    assert [int(name[:2]) for name in numbered] == list(range(1, 14))
    assert {path.stem for path in PAGES} > RUN_BY_HAND


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_page(page: Path) -> None:
    if page.stem in RUN_BY_HAND:
        assert not blocks_of(page.read_text(encoding="utf-8"))
        return
    printed = run_page(page)
    assert printed, "a page of the guide shows what its programs print"
    for entry in printed:
        if not entry.agrees:
            as_judged = str if entry.rule == "same" else shape_of
            where = f"line {entry.first} of {page.name}: {entry.rule}"
            assert as_judged(entry.said) == as_judged(entry.printed), where


WORDS = """
avx2 avx-512 broadcasting cache decision dlpack drop-in dtype element-wise flush fusion kernel lane
lazy pending llvm mask operation order plan race reduction reference-target replay scan stencil
strip temporary threads tier ulp unfused vectors view witness
"""
"""Words of the guide and of explanations that a newcomer may not know."""


def test_the_glossary_has_the_words() -> None:
    text = (GUIDE / "glossary.md").read_text(encoding="utf-8")
    entries = [entry.lower() for entry in re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE)]
    assert entries == sorted(entries)
    terms = {word.replace(" ", "-") for entry in entries for word in entry.split(", ")}
    assert [word for word in WORDS.split() if word not in terms] == []


def test_shapes_differ_where_words_do() -> None:
    assert shape_of("took 1.5 ms, 20 kernels") == shape_of("took  300.25 us,  3 kernels")
    assert shape_of("took 1.5 ms") != shape_of("took 1.5 kernels")


def test_blocks_carry_their_marks() -> None:
    page = "<!-- file: a.py -->\n```python\nx = 1\n```\n\n<!-- shape -->\n```console\n$ true\n```\n"
    first, second = blocks_of(page)
    assert (first.file, first.text, first.rule) == ("a.py", "x = 1\n", "same")
    assert (second.language, second.rule) == ("console", "shape")
    assert re.fullmatch(r"\$ true\n", second.text)

"""Codes of decisions."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fusewright.plan import fuse
from fusewright.plan.loops.fuse import profit
from fusewright.runtime.decisions import FUSED, KINDS, UNNAMED, code_of, page_link
from fusewright.runtime.profile import Decision


def sentences(function: Callable[..., Any]) -> list[str]:
    """What a function of the planner may return, with 7 for each number."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    returned = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return [text for node in returned for text in texts_in(node) if text]


def texts_in(node: ast.AST) -> Iterator[str]:
    """Each string of an expression; formatted ones whole."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(p.value if isinstance(p, ast.Constant) else "7" for p in node.values)  # type: ignore[misc]
    elif isinstance(node, ast.Constant):
        yield from [node.value] if isinstance(node.value, str) else []
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts_in(child)


PLANNERS = (
    fuse.why_full, fuse.fit_or_why, fuse.distance_or_why, fuse.Grouper.profit_or_why,
    profit.against_merging, profit.against_strips,
)  # fmt: skip


@pytest.mark.parametrize("function", PLANNERS, ids=lambda f: f.__name__)
def test_every_sentence_of_the_planner_has_a_class(function: Callable[..., Any]) -> None:
    told = sentences(function)
    assert told
    assert [text for text in told if code_of(False, text) == UNNAMED] == []


def test_classes_do_not_overlap() -> None:
    told = [text for function in PLANNERS for text in sentences(function)]
    for text in told:
        matching = [code for code, kind in KINDS.items() if kind.says and re.match(kind.says, text)]
        assert len(matching) <= 1, text


@pytest.mark.parametrize(
    ("why", "code"),
    [
        ("read after write of `a`, distance +1: e.g. n=2: ...", "FW401"),
        ("order of printing: e.g. n=2", "FW401"),
        ("legal with level=shift", "FW401"),
        ("`a`: nothing proved within the budget of 20 operations", "FW402"),
        ("`total` goes from one to the other", "FW404"),
        ("the setting level=dims does not allow it", "FW408"),
        ("", UNNAMED),
    ],
)
def test_sentences_of_the_analysis(why: str, code: str) -> None:
    assert Decision(False, "a and b", why).code == code
    assert Decision(True, "a and b", why).code == FUSED


def test_a_link_is_html() -> None:
    for code in KINDS:
        text = page_link(code)
        assert text.startswith('<abbr title="') and text.endswith(f'">{code}</abbr>')
        assert text.count('"') == 2

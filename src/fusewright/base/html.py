"""Tables and sentences as HTML, for what notebooks show of explanations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

_CELL = ' style="text-align: left; vertical-align: top"'
"""Notebooks put the text of cells to the right, as if all of it were numbers."""


def sentence(text: str) -> str:
    """A sentence, or several lines; what stands between backquotes is code.

    >>> sentence("reads `a[i]` < 3")
    'reads <code>a[i]</code> &lt; 3'
    """
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return marked.replace("\n", "<br>")


def code(text: str) -> str:
    """A line of code, not broken.

    >>> code("for i in range(3):")
    '<code style="white-space: nowrap">for i in range(3):</code>'
    """
    return f'<code style="white-space: nowrap">{escape(text, quote=False)}</code>' if text else ""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already.

    >>> table(["a"], [["<b>1</b>"]]).count("<tr>")
    2
    """
    lines = [_row(headings, "th"), *(_row(row, "td") for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}{_CELL}>{cell}</{tag}>" for cell in cells) + "</tr>"

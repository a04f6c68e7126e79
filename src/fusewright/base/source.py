"""Where in the user's code something was written: errors and `explain` point at it.  And its syntax
trees, also where several threads parse at once.

The user's frame is the first one outside this package; CPython 3.11 knows the columns of every
instruction.

It counts the depth of a tree under construction once per interpreter: where two threads build trees
in turns, both end with `SystemError: AST constructor recursion depth mismatch`.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import sys
import warnings
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from fusewright.base.forks import ForkedLock

Span = tuple[str, int, int, int]
"""File, line, column (from 1), end column (exclusive, from 1; 0 where only the line is known)."""

PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + "/"
PROGRAMS = (f"{PACKAGE}cli/demo/tsunami.py", f"{PACKAGE}cli/gallery/programs/")
"""What the package brings along but a user could have written: its lines are the user's, and its
loops are looked for."""
BETWEEN = contextlib.__file__
"""What stands between a `with` statement and what it enters."""
_inside: dict[str, bool] = {}


def is_inside(code: CodeType) -> bool:
    """Whether a code object belongs to this package, or to what calls it for a `with` statement."""
    file = code.co_filename  # a code object's own hash takes all its constants
    found = _inside.get(file)
    if found is None:
        if len(_inside) > 4096:
            _inside.clear()
        ours = file.startswith(PACKAGE) and not file.startswith(PROGRAMS)
        found = _inside[file] = ours or file == BETWEEN
    return found


def user_frame(depth: int = 1) -> FrameType | None:
    """The innermost frame that is not this package's."""
    return user_frame_from(sys._getframe(depth))


def user_frame_from(frame: FrameType | None) -> FrameType | None:
    """The innermost of these that is not this package's."""
    while frame is not None and is_inside(frame.f_code):
        frame = frame.f_back
    return frame


MOST_SPANS = 4096
_spans: dict[tuple[int, int], tuple[CodeType, Span]] = {}
"""By code (which is kept, so that its id is) and instruction: whoever listens asks at every record,
and to find a position takes time in proportion to the code before it."""


def span_of(frame: FrameType) -> Span:
    """The expression a frame is executing."""
    where = id(frame.f_code), frame.f_lasti
    known = _spans.get(where)
    if known is None:
        if len(_spans) >= MOST_SPANS:
            _spans.clear()
        known = _spans[where] = frame.f_code, _span_of(frame)
    return known[1]


def _span_of(frame: FrameType) -> Span:
    code, index = frame.f_code, frame.f_lasti // 2
    position = next(islice(code.co_positions(), index, None), (None,) * 4)
    line, end_line, column, end_column = position
    if line is None or column is None:
        return (code.co_filename, frame.f_lineno, 1, 0)
    if end_line != line or end_column is None:
        return (code.co_filename, line, _characters(code.co_filename, line, column), 0)
    start = _characters(code.co_filename, line, column)
    return (code.co_filename, line, start, _characters(code.co_filename, line, end_column))


def user_span() -> Span | None:
    """Where the user's code is now, or None when no frame is the user's."""
    frame = user_frame(2)
    return None if frame is None else span_of(frame)


_NOBODYS = ("fusewright", "threading.py")
"""Files in which the outermost frames of our own command, and of threads of ours, stand."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the user's line; where none is, such as in a command of ours, in our name."""
    frame = user_frame(2)
    while frame is not None and frame.f_code.co_filename.startswith("<frozen "):  # an import
        frame = user_frame_from(frame.f_back)
    if frame is None or os.path.basename(frame.f_code.co_filename) in _NOBODYS:
        warnings.warn_explicit(message, category, "fusewright", 1)
        return
    file, module = frame.f_code.co_filename, frame.f_globals.get("__name__")
    warnings.warn_explicit(message, category, file, frame.f_lineno, module)


def _characters(file: str, line: int, offset: int) -> int:
    """A column from 1 in characters; the interpreter counts UTF-8 bytes from 0."""
    text = linecache.getline(file, line).encode()
    return len(text[:offset].decode(errors="replace")) + 1 if text else offset + 1


def file_name(file: str) -> str:
    """What people call a file: `Cell In[3]` where it is a cell of a notebook, else its name."""
    shell = sys.modules.get("IPython")
    session: Any = shell.get_ipython() if shell is not None else None
    naming = getattr(getattr(session, "compile", None), "format_code_name", None)
    cell = naming(file) if naming is not None else None
    return " ".join(cell) if cell else file


def near(file: str) -> str:
    """The same, relative to the current folder where that is shorter."""
    named = file_name(file)
    return min(named, os.path.relpath(named), key=len) if os.path.isabs(named) else named


def draw(span: Span, remark: str = "") -> list[str]:
    """The place, the source line and a caret under the expression.

    >>> draw(("nowhere.py", 3, 5, 9))
    ['  --> nowhere.py:3:5']
    """
    file, line, start, end = span
    drawn = [f"  --> {file_name(file)}:{line}:{start}"]
    text = linecache.getline(file, line).rstrip("\n").expandtabs(1)
    if text.strip():
        width = max((end or len(text) + 1) - start, 1)
        shown, first = _fitted(text, start - 1, _columns() - len(_MARGIN))
        start -= first
        caret = " " * (start - 1) + "^" * max(min(width, len(shown) - start + 1), 1)
        drawn.append(f"{_MARGIN}{shown}")
        drawn.append(f"{_MARGIN}{caret} {remark}".rstrip())
    return drawn


_MARGIN = "   | "
_CUT = "..."
_LEAST_COLUMNS = 40


def _columns() -> int:
    """How wide lines may be: the terminal's columns (or `COLUMNS`); 120 where there is none."""
    # Imported here: a program without an error has no use for it.
    from shutil import get_terminal_size

    return max(get_terminal_size((120, 24)).columns, _LEAST_COLUMNS)


def _fitted(text: str, place: int, room: int) -> tuple[str, int]:
    """As much of a line as there is room for, with what stands at a place; where that starts."""
    if len(text) <= room:
        return text, 0
    first = max(min(place - room // 3, len(text) - room), 0)
    shown = text[first : first + room]
    if first:
        shown = _CUT + shown[len(_CUT) :]
    if first + room < len(text):
        shown = shown[: -len(_CUT)] + _CUT
    return shown, first


ATTEMPTS = 8
"""Of one text: threads of the user's parse without the lock."""
_alone = ForkedLock()


def parse_module(source: str | bytes, filename: str = "<unknown>") -> ast.Module:
    """The tree of a file's text.  Raises SyntaxError."""
    tree: ast.Module = _parse(source, filename, "exec")
    return tree


def parse_expression(source: str) -> ast.expr:
    """The tree of one expression.  Raises SyntaxError."""
    body: ast.expr = _parse(source, "<unknown>", "eval").body
    return body


def _parse(source: str | bytes, filename: str, mode: str) -> Any:
    with _alone.lock:
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(SystemError):
                return compile(source, filename, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
        return compile(source, filename, mode, ast.PyCF_ONLY_AST, dont_inherit=True)

"""Tracebacks of our errors end at the user's line, and those of others name no frame of ours; under
`debug` they show our frames too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import CodeType, TracebackType

from fusewright.base.source import is_inside


def shorten(error: BaseException, is_own: bool) -> None:
    """Take our frames from an error of ours and from what it follows, and from one that came
    through them.
    """
    if not is_own and _is_ours(_innermost(error.__traceback__)):
        return  # a bug of ours: every frame helps
    error.__traceback__ = without(error.__traceback__, is_inside)
    if not is_own:
        return
    before = error.__cause__ or error.__context__
    if before is not None and without(before.__traceback__, is_inside) is None:
        error.__cause__, error.__suppress_context__ = None, True


def without(
    traceback: TracebackType | None, is_hidden: Callable[[CodeType], bool]
) -> TracebackType | None:
    """The traceback without the frames of code that is hidden, and without the import system's."""
    shown = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not (code.co_filename.startswith("<frozen importlib") or is_hidden(code)):
            shown.append(traceback)
        traceback = traceback.tb_next
    for step, following in pairwise([*shown, None]):
        assert step is not None
        step.tb_next = following
    return shown[0] if shown else None


def _innermost(traceback: TracebackType | None) -> CodeType | None:
    code = None
    while traceback is not None:
        code, traceback = traceback.tb_frame.f_code, traceback.tb_next
    return code


def _is_ours(code: CodeType | None) -> bool:
    return code is not None and is_inside(code)

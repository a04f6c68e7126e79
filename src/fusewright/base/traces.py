"""Tracebacks of our errors end at the user's line; under `debug` they show our frames too."""

from __future__ import annotations

from itertools import pairwise
from types import TracebackType


def shorten(error: BaseException) -> None:
    """Take our frames from an error of ours, and from what it follows."""
    # Imported here: few programs end with an error.
    from fusewright.base.errors import FusewrightError
    from fusewright.base.options import current

    if not isinstance(error, FusewrightError):
        return
    try:
        if current().debug:
            return
    except FusewrightError:  # the settings are what is wrong
        pass
    error.__traceback__ = users_part(error.__traceback__)
    before = error.__cause__ or error.__context__
    if before is not None and users_part(before.__traceback__) is None:
        error.__cause__, error.__suppress_context__ = None, True


def users_part(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without our frames and those of the import system."""
    from fusewright.base.source import is_inside

    shown = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not (is_inside(code) or code.co_filename.startswith("<frozen importlib")):
            shown.append(traceback)
        traceback = traceback.tb_next
    return linked(shown)


def linked(shown: list[TracebackType]) -> TracebackType | None:
    """One traceback of these steps alone."""
    for step, following in pairwise([*shown, None]):
        assert step is not None
        step.tb_next = following
    return shown[0] if shown else None

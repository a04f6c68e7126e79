"""The functions of Python's that something enters: none where the core does all of it."""

import gc
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

T = TypeVar("T")
FINALISERS = {weakref.__file__, weakref.WeakSet.__init__.__code__.co_filename}


def frames(function: Callable[[], T]) -> tuple[list[CodeType], T]:
    """How many functions of Python's a call enters (but those of dying weak references), and what
    it gives.
    """
    entered: list[CodeType] = []
    own = function.__code__

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code is not own and code.co_filename not in FINALISERS:
            entered.append(code)

    gc.disable()  # other tests have left functions that a collection calls
    sys.setprofile(look)
    try:
        result = function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return entered, result

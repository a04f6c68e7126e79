"""What asked for a value, read off the stack: `float()`, `np.asarray`, `print`, `fw.evaluate`, an
iteration boundary.

Walking the stack costs microseconds, so it happens only while somebody listens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

from fusewright.base import source
from fusewright.base.source import Span

ENTRIES = {
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "an index",
    "__bool__": "a truth value",
    "__complex__": "complex()",
    "__array__": "np.asarray",
    "buffer": "np.asarray or a buffer",
    "__repr__": "print",
    "__str__": "print",
    "__format__": "print",
    "__dlpack__": "DLPack",
    "__hash__": "hash()",
    "__iter__": "a loop over an array",
    "__next__": "a loop over an array",
    "__contains__": "in",
    "__reduce__": "pickling",
    "__round__": "round()",
    "__getitem__": "indexing",
    "__setitem__": "an assignment",
    "__getattr__": "an attribute",
    "evaluate": "fw.evaluate",
    "sync": "fw.sync",
    "__exit__": "the end of fw.lazy",
}
"""By the function of ours that the user's code called; any other stands for itself."""


def _iteration(frame: FrameType) -> str:
    del frame
    return "iteration boundary"


def _delegated(frame: FrameType) -> str:
    return f"{frame.f_locals.get('name', 'a function')} runs in NumPy"


def _ended(frame: FrameType) -> str:
    del frame
    return END


END = "the end of the program"
"""Its last line has run: no line of the user's asks for the results that are compared."""


def _compiled_call(frame: FrameType) -> str:
    del frame
    return "fw.jit"


INNER: dict[str, Callable[[FrameType], str]] = {
    "_consider_flush": _iteration,
    "delegate": _delegated,
    "hand_over": _delegated,
    "call_recorded": _compiled_call,
    "ask_at_the_end": _ended,
}
"""By a function anywhere between the user's code and the evaluation."""


def asked() -> tuple[str, Span | None]:
    """Who asked for the value that is being computed, and where."""
    frame: FrameType | None = sys._getframe(1)
    entry, found = "", ""
    while frame is not None and _is_ours(frame):
        entry = frame.f_code.co_name
        if not found and entry in INNER:
            found = INNER[entry](frame)
        frame = frame.f_back
    line = None if frame is None or found == END else source.span_of(frame)
    return found or ENTRIES.get(entry, f"{entry}()"), line


def _is_ours(frame: FrameType) -> bool:
    """Ours, or the standard library's way of calling us."""
    return source.is_inside(frame.f_code) or frame.f_code.co_filename.endswith(_BETWEEN)


_BETWEEN = ("/contextlib.py", "/functools.py")

"""Where the user sees that something takes long: a slot, which the command line fills on a
terminal.  Elsewhere nothing is shown and nothing is loaded for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Done = Callable[[], None]
"""Says that one of the parts is done."""
Show = Callable[[str, int], AbstractContextManager[Done]]
"""What is being done, and its number of parts."""


def _nothing() -> None:
    pass


def unseen(what: str, total: int) -> AbstractContextManager[Done]:
    """Nobody is shown anything."""
    return nullcontext(_nothing)


show: Show = unseen


def set_show(function: Show) -> None:
    """Fill the slot."""
    global show
    show = function

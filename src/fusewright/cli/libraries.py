"""Which library a program's imports are redirected from, and to what."""

from __future__ import annotations

import builtins
import sys
from typing import Any, NamedTuple

from fusewright.base.later import TYPE

LIBRARIES = {"numpy": "fusewright.numpy", "pykokkos": "fusewright.bridges.pykokkos"}
"""What `--as` can name, and what a program gets for it."""


def provide_type() -> None:
    """Redirected code calls `TYPE`: Python's own `type`, until there are arrays."""
    kinds: Any = sys.modules.get("fusewright.numpy.kinds")
    setattr(builtins, TYPE, kinds.type_of if kinds else type)


class Redirection(NamedTuple):
    """A library, and the drop-in that a program gets for it."""

    library: str
    drop_in: str

    def of(self, name: str) -> str | None:
        """The drop-in's name for the library or a submodule of it; None for every other module."""
        if name == self.library or name.startswith(self.library + "."):
            return self.drop_in + name[len(self.library) :]
        return None

"""Which library a program's imports are redirected from, and to what."""

from __future__ import annotations

from typing import NamedTuple

LIBRARIES = {"numpy": "fusewright.numpy", "pykokkos": "fusewright.bridges.pykokkos"}
"""What `--as` can name, and what a program gets for it."""


class Redirection(NamedTuple):
    """A library, and the drop-in that a program gets for it."""

    library: str
    drop_in: str

    def of(self, name: str) -> str | None:
        """The drop-in's name for the library or a submodule of it; None for every other module."""
        if name == self.library or name.startswith(self.library + "."):
            return self.drop_in + name[len(self.library) :]
        return None

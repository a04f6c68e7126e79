"""Our integrals for all mean-field objects that are made later in the process."""

from __future__ import annotations

from functools import wraps
from typing import Any

from pyscf.scf import hf

from fusewright.bridges.pyscf.mean_field import SERVED, apply, following_jk

_original: Any = None


def install() -> None:
    """From here on `apply` happens to each new object whose class keeps its integrals in memory.

    Installed twice is installed once.
    """
    global _original
    if _original is not None:
        return
    original = _original = hf.SCF.__init__

    @wraps(original)
    def made(self: Any, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        if following_jk(type(self)) in SERVED:
            apply(self)

    hf.SCF.__init__ = made


def uninstall() -> None:
    """New objects are PySCF's alone; those that exist stay as they are."""
    global _original
    if _original is not None:
        hf.SCF.__init__, _original = _original, None

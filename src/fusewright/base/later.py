"""Modules that are loaded when they are first used, so that a program which needs no compiler pays
for none.

    if TYPE_CHECKING:
        from fusewright.runtime import cache
    else:
        cache = later("fusewright.runtime.cache")

Type checkers and `lint-imports` see an ordinary import.  The first look at `cache.clear` loads the
module and puts it in the place of the stand-in, so that everything after it is an ordinary global
name.
"""

from __future__ import annotations

import sys
from typing import Any

from fusewright.base.loading import load

TYPE = "__fusewright_type__"
"""The built-in function that redirected code calls in the place of `type(x)`: Python's own until
there are arrays.
"""


class Later:
    """Stands for a module until somebody looks at one of its names."""

    __slots__ = ("_module", "_namespace")

    def __init__(self, module: str, namespace: dict[str, Any]) -> None:
        self._module, self._namespace = module, namespace

    def __getattr__(self, name: str) -> Any:
        module = load(self._module)
        bound = self._module.rpartition(".")[2]
        if self._namespace.get(bound) is self:
            self._namespace[bound] = module
        return getattr(module, name)

    def __repr__(self) -> str:
        return f"<module {self._module!r}, not loaded yet>"


def later(module: str) -> Any:
    """What stands for a module in the calling module, under the last part of its name."""
    return Later(module, sys._getframe(1).f_globals)

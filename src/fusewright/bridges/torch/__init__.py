"""`torch.compile(model, backend="fusewright")`: torch's element-wise operations, reductions and
normalisations as fused kernels.

Torch finds the backend by its entry point; nothing has to be imported.  `explain()` says what of
the compiled graphs is ours, and why the rest is torch's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fusewright.bridges.torch.backend import fusewright as fusewright
    from fusewright.bridges.torch.report import explain as explain

__all__ = ["fusewright", "explain"]
_HOMES = {"fusewright": "backend", "explain": "report"}


def __getattr__(name: str) -> Any:
    """Load torch when it is first needed: the table of operations is there without it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

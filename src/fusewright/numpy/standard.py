"""What the Python array API standard asks of a namespace beyond NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.base.errors import ValueRangeError

API_VERSION = "2025.12"


class NamespaceInfo:
    """`__array_namespace_info__()`: one device, NumPy's dtypes, data-dependent shapes computed
    at once.
    """

    def capabilities(self) -> dict[str, Any]:
        """What the namespace can do."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,
        }

    def default_device(self) -> str:
        """Where arrays live."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """All places arrays can live."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of new arrays."""
        _check(device)
        info: Any = np.__array_namespace_info__()
        return dict(info.default_dtypes())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes there are, by name."""
        _check(device)
        info: Any = np.__array_namespace_info__()
        return dict(info.dtypes(kind=kind))


def _check(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueRangeError(
            f"Device not understood. Only 'cpu' is allowed, got: {device}", help="use 'cpu'"
        )


EXPORTS: dict[str, Any] = {
    "__array_namespace_info__": NamespaceInfo, "__array_api_version__": API_VERSION,
}  # fmt: skip

"""All that can be seen of what a program comes to, as one line."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import fusewright as fw

ADDRESS = re.compile("at 0x[0-9a-f]+")


def seen(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(seen, value))})"
    if isinstance(value, fw.Array | np.ndarray | np.generic):
        kind, host = type(value).__name__, np.asarray(value)
        if isinstance(value, np.generic) or kind == "Scalar":  # lazy, or computed at once
            kind = "number"
    else:
        return f"{type(value).__name__} {value!r}"
    if host.dtype == object:
        return f"{kind} {ADDRESS.sub('at ...', repr(host.tolist()))}"
    return f"{kind} {host.dtype} {host.shape} {hashlib.sha1(host.tobytes()).hexdigest()[:16]}"


def outcome(run: Callable[[], Any]) -> str:
    try:
        return seen(run())
    except pickle.PicklingError as error:
        return type(error).__name__
    except Exception as error:  # noqa: BLE001 - every error is an outcome to compare
        words = ADDRESS.sub("at ...", " ".join(str(error).split()))
        return f"{type(error).__name__}: {words}"

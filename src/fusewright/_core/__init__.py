"""The native core: recording, look-up and launch compiled ahead of time, where a C compiler was at
hand when the package was installed.

`native` is the module `_native`, or None.  Everything in it has a Python form next to its use that
means the same; `FUSEWRIGHT_NATIVE=0`, read once, at import, chooses that form.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from typing import Any

native: Any = None
if os.environ.get("FUSEWRIGHT_NATIVE", "1") != "0":
    with suppress(ImportError):  # No compiler at installation: slower, and the same in all else.
        native = import_module("fusewright._core._native")

"""Which functions run at once on small values (decision 0013): those that NumPy runs anyhow, and
those that move, count or compare elements or multiply them once, so that the bits are those of
compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.base.figures import MOVED_ELEMENTS
from fusewright.frontends.arrays.front import (
    ARRANGEMENTS,
    FILLS,
    arrangement,
    at_once,
    in_place,
    limits,
)

LIBRARY = 1 << 17
"""Elements of an operand of a step that is NumPy's in any case."""

STEPS: dict[str, str] = {
    "": "argpartition argsort bincount convolve correlate digitize histogram histogram2d interp "
    "intersect1d isin lexsort median partition percentile quantile searchsorted setdiff1d "
    "setxor1d sort tensordot union1d unique",
    "linalg": "cholesky det eig eigh eigvals eigvalsh inv lstsq multi_dot pinv qr slogdet solve "
    "svd tensordot",
    "fft": "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft "
    "irfft2 irfftn rfft rfft2 rfftn fftshift ifftshift",
}
"""Library steps, by module."""
MOVES = (
    "append argmax argmin argwhere array_equal block column_stack compress concatenate copy "
    "count_nonzero cross delete diff dstack empty_like extract flatnonzero full_like hstack kron "
    "nonzero ones_like outer pad ptp repeat resize roll round stack take take_along_axis tile tril "
    "triu vstack zeros_like"
)
WRITERS = ("copyto", "put", "putmask", "place", "put_along_axis", "fill_diagonal")
"""Functions that write into their first operand."""
INSTEAD = {"empty_like": np.zeros_like, "empty": np.zeros}
"""Ours give zeros."""


def quick(module: str, exports: dict[str, Any]) -> dict[str, Any]:
    """A module's functions, those that may with the native core in front of them."""
    home = getattr(np, module) if module else np
    made = dict(exports)
    for names, limit in ((STEPS[module], LIBRARY), ("" if module else MOVES, MOVED_ELEMENTS)):
        for name in names.split():
            function = INSTEAD.get(name, getattr(home, name))
            made[name] = at_once(function, exports[name], **limits(name, limit))
    for name in () if module else WRITERS:
        made[name] = in_place(getattr(home, name), exports[name], MOVED_ELEMENTS)
    for name in () if module else ARRANGEMENTS[:5]:  # functions, too (`np.copy` keeps the layout)
        made[name] = arrangement(name, exports[name])
    for name in () if module else FILLS:
        function = INSTEAD.get(name, getattr(home, name))
        made[name] = at_once(function, exports[name], limit=MOVED_ELEMENTS, makes=name)
    return made

"""Calls of kernels that draw NumPy's random numbers: with the state of its global generator, which
goes on where the kernel has left off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fusewright.frontends.kernels.inputs import GAUSS, WORDS


def run(arguments: Mapping[str, Any], once: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Call a kernel with the state, and put back what it has made of it."""
    state: Any = np.random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError("NumPy's global generator is not the one that kernels know, MT19937")
    words = np.empty(626, np.int64)
    words[:624], words[624] = state["state"]["key"], state["state"]["pos"]
    words[625] = state["has_gauss"]
    gauss = np.array([state["gauss"]])
    try:
        return once({**arguments, WORDS: words, GAUSS: gauss})
    finally:
        state["state"].update(key=words[:624].astype(np.uint32), pos=int(words[624]))
        state.update(has_gauss=int(words[625]), gauss=float(gauss[0]))
        np.random.set_state(state)

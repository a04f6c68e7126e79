"""Whether the time of some work grows linearly with its length."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time, sleep

MOST = 2.6
"""Times as long that twice the work may take: 2 for linear work, 4 for quadratic."""
TRIES, ROUNDS, PAUSE = 12, 3, 10.0
"""Looks in a row, and how often, so many seconds apart: what else a machine does comes and goes."""


def grows_linearly(work: Callable[[int], object], length: int) -> bool:
    """Whether twice the length takes less than `MOST` times the processor time, beyond what a
    tenth of the length takes (what does not depend on the length: imports, compiling).
    """
    shortest = {length // 10: 1e9, length: 1e9, 2 * length: 1e9}
    for attempt in range(ROUNDS * TRIES):
        if attempt and attempt % TRIES == 0:
            sleep(PAUSE)
        for each in shortest:
            shortest[each] = min(shortest[each], _seconds(work, each))
        little, once, twice = shortest.values()
        # a tenth is part of both: (2n - n/10) / (n - n/10) is 2.11 for linear work, 4.03 otherwise
        if twice - little < MOST * max(once - little, 0.01):
            return True
    return False


def _seconds(work: Callable[[int], object], length: int) -> float:
    gc.collect()
    gc.disable()  # its passes go through what other tests left, more often the longer the work
    try:
        began = process_time()
        work(length)
        return process_time() - began
    finally:
        gc.enable()

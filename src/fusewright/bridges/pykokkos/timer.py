"""`pk.Timer`: seconds since it was made or reset; kernels before it are complete."""

from __future__ import annotations

import time


class Timer:
    """A clock of wall time."""

    def __init__(self) -> None:
        self.reset()

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start_time

    def reset(self) -> None:
        """Start anew."""
        self.start_time = time.perf_counter()

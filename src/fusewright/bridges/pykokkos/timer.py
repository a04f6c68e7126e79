"""`pk.Timer`: seconds since it was made or reset; what is pending is computed before it looks."""

from __future__ import annotations

import time

from fusewright.api import sync


class Timer:
    """A clock of wall time."""

    def __init__(self) -> None:
        self.reset()

    def seconds(self) -> float:
        """Seconds since the start."""
        sync()
        return time.perf_counter() - self.start_time

    def reset(self) -> None:
        """Start anew."""
        sync()
        self.start_time = time.perf_counter()

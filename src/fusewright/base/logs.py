"""Diagnostics that were asked for go through `logging`, under `fusewright.*`.

Where the program has set up no logging they appear on standard error as they are; a program that
has gets them as records of level INFO.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO


class _StandardError(logging.StreamHandler[TextIO]):
    """To what `sys.stderr` is at the time of a message."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


_own = _StandardError()


def tell(name: str, text: str) -> None:
    """Log one message that the user has asked for."""
    logger = logging.getLogger(name)
    root = logging.getLogger("fusewright")
    if root.level == logging.NOTSET:
        root.setLevel(logging.INFO)
    if _own in root.handlers:
        root.removeHandler(_own)
    if not logger.hasHandlers():
        root.addHandler(_own)
    logger.info("%s", text)

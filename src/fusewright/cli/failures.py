"""A check of `fusewright doctor` that fails."""

from __future__ import annotations


class CheckFailed(Exception):
    """What is wrong, and what the user can do."""

    def __init__(self, what: str, help: str) -> None:
        super().__init__(what)
        self.help = help

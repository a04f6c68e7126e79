"""What somebody meant who wrote a name that does not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def did_you_mean(wrong: str, known: Iterable[str], spelled: Callable[[str], str] = str) -> str:
    """`did you mean run?`; nothing where no known name is close."""
    # Imported here: only a mistake needs it.
    from difflib import get_close_matches

    close = get_close_matches(wrong, list(known), 1)
    return f"did you mean {spelled(close[0])}?" if close else ""

"""`pk.printf`, with the formats of C."""

from __future__ import annotations

import re
import sys
from typing import Any

CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d+)?(?P<precision>\.\d+)?(?:hh|h|ll|l|z|j|t|L)?"
    r"(?P<kind>[diuxXofFeEgGscp%])"
)


def printf(fmt_str: str, *args: Any) -> None:
    """Print as C's `printf` does."""
    sys.stdout.write(CONVERSION.sub(_python, fmt_str) % args)


def _python(match: re.Match[str]) -> str:
    """The conversion without C's length modifiers."""
    words = (match["flags"], match["width"] or "", match["precision"] or "", match["kind"])
    return "%" + "".join(words)

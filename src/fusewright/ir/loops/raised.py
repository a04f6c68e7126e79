"""The errors that a kernel raises: a check's message names the exception and says its text.

ValueError:{p:.3f} of {n!r}     two fields, of a Python number and of a NumPy scalar
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from string import Formatter
from typing import Any

from fusewright.ir.loops.statements import Shown


def name_of(kind: Any) -> str | None:
    """How an exception is found again: by its module and its name there; None where it is not."""
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return None
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}/{kind.__name__}"
    return name if ":" not in name and _found(name) is kind else None


def _found(name: str) -> Any:
    module, _, attribute = name.rpartition("/")
    return getattr(sys.modules.get(module or "builtins"), attribute, None)


def literal(text: str) -> str:
    """A text as it is, in a message."""
    return text.replace("{", "{{").replace("}", "}}")


def field(shown: Shown) -> str:
    """The place of a number in a message."""
    conversion = f"!{shown.conversion}" if shown.conversion else ""
    return f"{{{'p' if shown.python else 'n'}{conversion}:{shown.spec}}}"


def error(message: str, values: Sequence[Any]) -> Exception:
    """The error that a message and its numbers, NumPy scalars, mean."""
    name, _, template = message.partition(":")
    text, left = "", list(values)
    for before, whose, spec, conversion in Formatter().parse(template):
        text += before
        if whose is not None:
            value = left.pop(0)
            value = value.item() if whose == "p" else value
            if conversion:
                value = Formatter().convert_field(value, conversion)
            text += format(value, spec or "")
    kind = _found(name) or RuntimeError
    raised: Exception = kind(*([text] if template else []))
    return raised

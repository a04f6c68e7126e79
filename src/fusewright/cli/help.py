"""`fusewright help`: a command, the code of an error, the settings, or a public name."""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from contextlib import suppress
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Any

from fusewright.base.meant import did_you_mean
from fusewright.base.options import TABLE, Options, Row
from fusewright.cli import parsing
from fusewright.cli.error_pages import DECISIONS, PAGES

WIDTH = 100


def command(chosen: argparse.Namespace) -> int:
    """Print what is known about the topic, or about all commands."""
    print(about(" ".join(chosen.topic)).rstrip())
    return 0


def about(topic: str) -> str:
    """The text on a topic, on all commands without one; what does not exist is a `UsageError`."""
    if not topic:
        return parsing.commands_parser().format_help()
    if topic in parsing.COMMANDS or topic in parsing.DESCRIPTIONS:
        return parsing.parser_of(topic).format_help()
    if topic.upper() in PAGES or topic.upper() in DECISIONS:
        return page(topic.upper())
    if topic == "options":
        return "\n".join(map(_setting, TABLE.values()))
    for row in TABLE.values():
        if topic in (row.name, row.variable):
            return _setting(row)
    prefix, dot, name = topic.partition(".")
    if prefix in MODULES:
        module = import_module(MODULES[prefix])
        return _public(topic, module, name) if dot else f"{inspect.getdoc(module)}"
    return _bare(topic)


MODULES = {
    "fw": "fusewright", "fusewright": "fusewright", "np": "fusewright.numpy",
    "numpy": "fusewright.numpy",
}  # fmt: skip
"""What programs call the modules whose names have help."""


BARE = ("fw", "np", "np.special")
"""Where a name is looked for that is given without its module."""


def _bare(name: str) -> str:
    """The text on a name of ours without its module: `kernel`, `linalg.inv`."""
    found = [prefix for prefix in BARE if _has(prefix, name)]
    if not found:
        names = [each for prefix in BARE for each in dir(_module(prefix))]
        known = [*parsing.COMMANDS, *PAGES, *DECISIONS, "options", *TABLE, *names]
        meant = did_you_mean(name, known) or f"there are {', '.join(parsing.COMMANDS)}"
        raise parsing.UsageError(f"there is no help on {name!r}: {meant}")
    others = [f"`fusewright help {prefix}.{name}`" for prefix in found[1:]]
    more = f"\n\nThere is {' and '.join(others)}, too." if others else ""
    return _public(f"{found[0]}.{name}", _module(found[0]), name) + more


def _module(prefix: str) -> Any:
    first, _, inside = prefix.partition(".")
    module = import_module(MODULES[first])
    return getattr(module, inside) if inside else module


def _has(prefix: str, name: str) -> bool:
    with suppress(AttributeError):
        attrgetter(name)(_module(prefix))
        return True
    return False


def _public(topic: str, module: ModuleType, name: str) -> str:
    """What a public name says of itself: its call, and its docstring."""
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            known = [each for each in dir(found) if not each.startswith("_")]
            meant = did_you_mean(part, known) or f"`dir({topic.partition('.')[0]})` lists the names"
            said = f"{error}".partition(": ")[2] or meant  # modules say where a name is instead
            raise parsing.UsageError(f"there is no help on {topic!r}: {said}") from None
    called = ""
    with suppress(TypeError, ValueError):
        called = f"{topic}{_signature(found)}\n\n" if callable(found) else ""
    return called + (inspect.getdoc(found) or f"{topic} = {found!r}")


def _signature(function: Any) -> str:
    """How it is called, the types as they are written."""
    return re.sub(r"((?:: |-> ))'([^']*)'", r"\1\2", str(inspect.signature(function)))


def page(code: str) -> str:
    """The page of an error's code, or a decision's, as text."""
    found = PAGES.get(code) or DECISIONS[code]
    parts = [f"{code}: {found.title}", _filled(found.cause), _filled(f"What to do: {found.mend}")]
    if found.program:
        parts += ["A program that meets it:", textwrap.indent(found.program, "    ")]
    return "\n\n".join(parts)


def _setting(row: Row) -> str:
    default = Options._field_defaults[row.name]
    lines = [f"{row.name} = {default!r}", f"{row.meaning}; {row.allowed}; {row.variable}"]
    return lines[0] + "\n" + textwrap.indent(_filled(lines[1]), "    ")


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)

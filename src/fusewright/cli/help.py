"""`fusewright help`: a command, the code of an error, the settings, or a public name."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from fusewright.base.meant import did_you_mean
from fusewright.base.options import TABLE, Options, Row
from fusewright.cli import parsing
from fusewright.cli.error_pages import DECISIONS, PAGES

WIDTH = 100


def command(chosen: argparse.Namespace) -> int:
    """Print what is known about the topic, or about all commands."""
    print(about(chosen.topic).rstrip())
    return 0


def about(topic: str | None) -> str:
    """The text on a topic; one that does not exist is a `UsageError`."""
    if topic is None:
        return parsing.commands_parser().format_help()
    if topic in parsing.COMMANDS:
        return parsing.parser_of(topic).format_help()
    if topic.upper() in PAGES or topic.upper() in DECISIONS:
        return page(topic.upper())
    if topic == "options":
        return "\n".join(map(_setting, TABLE.values()))
    for row in TABLE.values():
        if topic in (row.name, row.variable):
            return _setting(row)
    prefix, dot, name = topic.partition(".")
    if dot and prefix in MODULES:
        return _public(topic, import_module(MODULES[prefix]), name)
    known = [*parsing.COMMANDS, *PAGES, *DECISIONS, "options", *TABLE]
    meant = did_you_mean(topic, known) or f"there are {', '.join(parsing.COMMANDS)}"
    raise parsing.UsageError(f"there is no help on {topic!r}: {meant}")


MODULES = {
    "fw": "fusewright", "fusewright": "fusewright", "np": "fusewright.numpy",
    "numpy": "fusewright.numpy",
}  # fmt: skip
"""What programs call the modules whose names have help."""


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
        called = f"{topic}{inspect.signature(found)}\n\n" if callable(found) else ""
    return called + (inspect.getdoc(found) or f"{topic} = {found!r}")


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

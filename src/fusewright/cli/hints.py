"""Options of ours that stand behind the program's name: they are the program's, and where nothing
in it speaks of them, the user is told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from fusewright.cli.console import say
from fusewright.cli.program import Program, folders_of

OPTIONS = frozenset({
    "--as", "--compare", "--explain", "--full", "--fuse", "--html", "--no-fuse", "--no-strict",
    "--plain", "--pyscf", "--report", "--results", "--rtol", "--save", "--strict", "--threads",
})  # fmt: skip
"""What `run`, `explain` and `cache warm` take; written out, for a program is not to wait for a
parser that it does not need.
"""
FROM_NAMES = frozenset({"fire", "typer", "tyro", "plac", "jsonargparse", "simple_parsing"})
"""Libraries that make options of the names of parameters."""
INSTALLED = f"{os.sep}site-packages{os.sep}"


def tell(command: str, program: Program) -> None:
    """One line on options of ours among the words that the program got, if it wants none of them;
    after the run, when all its modules are there.
    """
    found = [word for word in program.arguments if word.partition("=")[0] in OPTIONS]
    if not found or program.kind == "stdin" or not FROM_NAMES.isdisjoint(sys.modules):
        return
    sources = [*_sources(program)]
    unknown = [word for word in found if not any(_name(word) in text for text in sources)]
    if unknown:
        words = program._replace(arguments=()).command()
        say(
            f"{', '.join(unknown)} went to the program, which does not mention "
            f"{'them' if len(unknown) > 1 else 'it'}; options of Fusewright stand before its name: "
            f"fusewright {command} {unknown[0]} ... {' '.join(words)}"
        )


def _name(word: str) -> bytes:
    """The option without its value."""
    return word.partition("=")[0].encode()


def _sources(program: Program) -> Iterator[bytes]:
    """The text of the modules of the program that have been loaded."""
    folders = tuple(os.path.realpath(folder) + os.sep for folder in folders_of(program))
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        path = os.path.realpath(file) if isinstance(file, str) else ""
        if path.endswith(".py") and path.startswith(folders) and INSTALLED not in path:
            with suppress(OSError), open(path, "rb") as text:
                yield text.read()

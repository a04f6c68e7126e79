"""The command line: which function carries a command out, and what becomes of its errors."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fusewright.base.later import later
from fusewright.cli.program import INTERRUPTED, ProgramNotFound, program_of_file
from fusewright.cli.run import Request, run

if TYPE_CHECKING:
    from fusewright.base import errors, options
    from fusewright.cli import console, parsing
else:
    errors, parsing = later("fusewright.base.errors"), later("fusewright.cli.parsing")
    console, options = later("fusewright.cli.console"), later("fusewright.base.options")

USAGE_ERROR = 2
FRAME_WORDS = (1 << 16) + 512
"""The size of the frame that all others stand on, in words of 8 bytes that are never touched.
CPython keeps frames in pieces of 16 KiB, and maps and unmaps the next piece at each call across the
end of one (`push_chunk` in pystate.c): 5 to 10 us, 800 times within NumPy's import and ten thousand
times within scikit-learn's.  A large frame gets a piece of the next power of two, 1 MiB: the other
half of it holds all that most programs call.
"""
_PRINTS = ("bench", "demo")
"""What prints tables and nothing else."""
_ALWAYS = ("doctor", "help", "--help", "-h", "--version")
"""What answers whatever the environment says; the doctor tells of it among its findings."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command; returns the exit code."""
    if arguments is None:
        # The process is ours until the user's program starts: nothing that is loaded for it is
        # garbage (`cli.program` switches the collector on).
        gc.disable()
        arguments = sys.argv[1:]
        if not sys.flags.safe_path and sys.path:
            # Where `fusewright` was started from is not where the user's program looks first.
            sys.path.pop(0)
    try:
        return _dispatch(list(arguments))
    except ProgramNotFound as error:
        console.say(str(error))
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain once more while it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except errors.FusewrightError as error:
        if error.where and error.where[0] == getattr(sys.modules["__main__"], "__file__", None):
            error.where = None  # the line that starts us is nobody's mistake
        console.say(str(error))
        return USAGE_ERROR
    except parsing.UsageError as error:
        console.say(str(error))
        return USAGE_ERROR
    except errors.InternalError as error:
        console.say(f"internal error, please report it: {error}")
        return 1


main.__code__ = main.__code__.replace(co_stacksize=FRAME_WORDS)


def _dispatch(words: list[str]) -> int:
    command = words[0] if words else ""
    if command != "doctor" and any(name.startswith("FUSEWRIGHT_") for name in os.environ):
        for problem in options.problems(os.environ):
            if command not in _ALWAYS:
                raise problem
            console.say(str(problem))
    if command in ("run", "explain"):
        return _run(command, words[1:])
    if words[:3] == ["cache", "warm", "pyscf"]:
        classes: Callable[[Any], int] = import_module("fusewright.cli.cache").warm_pyscf
        return classes(parsing.pyscf_parser().parse_args(words[3:]))
    if words[:2] == ["cache", "warm"]:
        warm: Callable[[Request], int] = import_module("fusewright.cli.cache").warm
        return warm(parsing.request(parsing.WARM, words[2:]))
    gc.enable()
    if command:
        parsing.check_command(command)
    if command in _PRINTS and not {"-h", "--help"} & {*words}:
        parsing.require_extra(f"`fusewright {command}`")
    chosen = parsing.parsed(words)
    if chosen.version:
        print(f"fusewright {console.version_of('fusewright')}")
        return 0
    if chosen.command is None:
        parsing.commands_parser().print_help()
        return USAGE_ERROR
    carry_out: Callable[[Any], int] = _function(chosen.command)
    return carry_out(chosen)


def _function(command: str) -> Callable[[Any], int]:
    """The `command` function of the module that holds a command; loaded when it is used."""
    function: Callable[[Any], int] = import_module(f"fusewright.cli.{command}").command
    return function


def _run(command: str, words: list[str]) -> int:
    if command == "run":
        return run(_request(words))
    # The explanation is what was asked for: it gets standard output, the program's goes beside it.
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        return run(parsing.request(command, words)._replace(explain=True), stdout)
    finally:
        sys.stdout = stdout


def _request(words: list[str]) -> Request:
    if words and not words[0].startswith("-"):  # no option of ours: nothing to parse
        return Request(program_of_file(words[0], tuple(words[1:])))
    return parsing.request("run", words)

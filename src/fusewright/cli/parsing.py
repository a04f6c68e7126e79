"""What each command takes, and the request that words on a command line make."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from fusewright.base.meant import did_you_mean
from fusewright.cli.libraries import LIBRARIES
from fusewright.cli.program import Program, program_of_file
from fusewright.cli.run import Request

RUN_USAGE = "fusewright %s [options] (program.py | folder | -m module | -) [arguments]"
WARM = "cache warm"
_NO_PYSCF = "PySCF is not installed: pip install 'fusewright[pyscf]'"
_STRICT_ALL = "--strict-all"
"""How `--strict=all` is read: a flag that may stand alone has no value to argparse."""
_VALUE_OPTIONS = {"--as", "--report", "--html", "--threads", "--rtol", "--results", "--save", "-m"}


class UsageError(Exception):
    """The command line asks for something that cannot be."""


EXTRA = ("rich", "jinja2", "pygments")
"""What the extra `cli` installs: tables, the page and the colours of its source."""

COMMANDS = {
    "run": "run a program with the drop-in for NumPy",
    "explain": "run a program and print what fused, what not, and why",
    "demo": "run the packaged program with NumPy and Fusewright",
    "gallery": "list the packaged programs, or run one with NumPy and Fusewright",
    "info": "print the machine, the versions and the settings",
    "cache": "look at or empty the folder of compiled code",
    "doctor": "check that everything Fusewright needs works here",
    "bench": "a short benchmark against NumPy",
    "help": "explain a command, the code of an error (FW101), the options, or a name (np.roll)",
}


DESCRIPTIONS = {
    "run": "Runs an unmodified program; its `import numpy` gets fusewright.numpy.",
    "explain": "Runs an unmodified program as `fusewright run` does, and prints to standard output "
    "where its time went, the dearest steps and what to try; then what fused, what not and why, "
    "where that fits on the screen. What the program prints goes to standard error.",
    WARM: "Runs an unmodified program once, and keeps on disk all the code that it needs: the next "
    "process compiles nothing.",
}
"""What the commands do that run a program."""

BEGIN = """\
to begin:
  fusewright demo                      a packaged program, with NumPy and with Fusewright
  fusewright run --compare program.py  your own program, with both: times, and the same results?
  fusewright explain program.py        where its time went, and what to try
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        meant = _meant(message, self._option_string_actions)
        raise UsageError(f"{message}{meant}\n{self.format_usage().strip()}")

    def below(self) -> dict[str, argparse.ArgumentParser]:
        """The parsers of the commands."""
        kinds = (a for a in self._actions if isinstance(a, argparse._SubParsersAction))
        return {name: parser for kind in kinds for name, parser in kind.choices.items()}


_UNKNOWN = "unrecognized arguments: "
_CHOICE = re.compile(r"argument \S+: invalid choice: '(\S*)' \(choose from (.*)\)")


def _meant(message: str, options: Iterable[str]) -> str:
    """`; did you mean --threads?` for an option, or a choice, that does not exist."""
    choice = _CHOICE.fullmatch(message)
    meant = ""
    if choice is not None:
        meant = did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
    elif message.startswith(_UNKNOWN):
        wrong = message.removeprefix(_UNKNOWN).split()[0].partition("=")[0]
        meant = did_you_mean(wrong, options) if wrong.startswith("-") else ""
    return f"; {meant}" if meant else ""


def parsed(words: list[str]) -> argparse.Namespace:
    """What a command is asked for; what it does not know is its own mistake, not another's."""
    parser = commands_parser()
    chosen, unknown = parser.parse_known_args(words)
    if unknown:
        below = parser.below().get(chosen.command or "", parser)
        below.error(f"{_UNKNOWN}{' '.join(unknown)}")
    return chosen


def check_command(word: str) -> None:
    """A `UsageError` for a command that does not exist, with the one that was meant."""
    if word in COMMANDS or word.startswith("-"):
        return
    meant = did_you_mean(word, (*COMMANDS, "--version"), "`{}`".format)
    if os.path.exists(word):
        meant = f"to run it, write `fusewright run {word}`"
    raise UsageError(
        f"there is no command {word!r}{': ' if meant else ''}{meant}\n"
        f"{commands_parser().format_usage().strip()}"
    )


def require_extra(what: str) -> None:
    """A `UsageError`, before anything runs, where what it prints with is not installed."""
    missing = [name for name in EXTRA if not _is_installed(name)]
    if missing:
        raise UsageError(
            f"{what} prints with {', '.join(missing)}, which this installation lacks: "
            "pip install 'fusewright[cli]'"
        )


def _is_installed(name: str) -> bool:
    # Imported here: `fusewright run program.py` prints nothing.
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except ValueError:  # it is there and was loaded by hand
        return True


def commands_parser() -> _Parser:
    """Of all commands; `run` and `explain` take their words apart themselves."""
    parser = _Parser(
        prog="fusewright",
        description="Runs NumPy programs faster by fusing their steps.",
        epilog=BEGIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="command", parser_class=_Parser)
    made = {
        name: commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        for name, words in COMMANDS.items()
    }
    demo, cache = made["demo"], made["cache"]
    demo.add_argument(
        "--report", metavar="FILE", default="fusewright-demo.html", type=_output,
        help="where the HTML report goes (default: %(default)s)",
    )  # fmt: skip
    demo.add_argument("--steps", metavar="N", type=_positive, help="time steps (default: 1200)")
    _add_gallery(made["gallery"])
    cache.add_argument(
        "action", nargs="?", choices=("info", "clear", "path", "warm"), default="info",
        help="say what is there (default), remove it, print where it is, or run a program so that "
        "all it needs is there: `cache warm program.py arguments`; `cache warm pyscf --basis NAME` "
        "compiles integrals",
    )  # fmt: skip
    made["bench"].add_argument(
        "--size", metavar="N", type=_positive, help="elements (default: several)"
    )
    made["bench"].add_argument(
        "--calibrate", action="store_true",
        help="measure this machine instead (10 s at most), and keep the figures for all programs",
    )  # fmt: skip
    made["help"].add_argument(
        "topic", nargs="*", help="a command, a code, `options`, an option, or a name: np.roll"
    )
    return parser


def pyscf_parser() -> _Parser:
    """Of `cache warm pyscf`."""
    if not _is_installed("pyscf"):
        raise UsageError(_NO_PYSCF)
    parser = _Parser(
        prog="fusewright cache warm pyscf",
        description="Compiles all integrals that molecules need in these basis sets.",
    )
    parser.add_argument(
        "--basis", metavar="NAME", nargs="+", required=True, help="basis sets of PySCF"
    )
    parser.add_argument(
        "--elements", metavar="X", nargs="+", type=_symbols, default=[["H", "C", "N", "O"]],
        help="of the molecules (default: H C N O)",
    )  # fmt: skip
    parser.add_argument("--cartesian", action="store_true", help="Cartesian functions")
    parser.add_argument(
        "--range-separated", nargs="?", choices=("long", "short", "both"), default=False,
        const="both", help="those of functionals like wB97X (long) and HSE06 (short)",
    )  # fmt: skip
    return parser


def _symbols(text: str) -> list[str]:
    """Elements, with commas or without."""
    return [each for each in text.split(",") if each]


def _add_gallery(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="which program (default: list them)")
    parser.add_argument("--size", metavar="N", type=_positive, help="its size (default: its own)")
    parser.add_argument("--picture", metavar="FILE", type=_output, help="write a PNG of the result")
    parser.add_argument("--source", action="store_true", help="print the program instead")


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    if command in DESCRIPTIONS:
        return run_parser(command)
    return commands_parser().below()[command]


def run_parser(command: str) -> argparse.ArgumentParser:
    """What `run` and `explain` take."""
    parser = _Parser(
        prog=f"fusewright {command}",
        usage=RUN_USAGE % command,
        allow_abbrev=False,
        description=DESCRIPTIONS[command],
    )
    flag = argparse.BooleanOptionalAction
    _add_looking(parser, command)
    parser.add_argument(
        "--strict",
        action=flag,
        help="what is not compiled is an error (--strict=all: also "
        "linear algebra, FFT, sorting and the other documented library steps)",
    )
    parser.add_argument(
        _STRICT_ALL, dest="strict", action="store_const", const="all", help=argparse.SUPPRESS
    )
    parser.add_argument("--threads", type=_positive, metavar="N", help="threads of a kernel")
    parser.add_argument("--fuse", action=flag, help="run several steps as one")
    parser.add_argument(
        "--as", dest="library", choices=tuple(LIBRARIES), default="numpy",
        help="the library whose import is redirected (default: numpy)",
    )  # fmt: skip
    parser.add_argument(
        "--pyscf", action="store_true", help="PySCF's mean-field objects get our integrals"
    )
    parser.add_argument("--save", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-m", dest="module", help=argparse.SUPPRESS)
    parser.add_argument("program", nargs="?", help=argparse.SUPPRESS)
    return parser


def _add_looking(parser: argparse.ArgumentParser, command: str) -> None:
    """What looks at a run; an option that a command refuses is not in its list."""
    flags = {
        "--explain": "print what fused and why",
        "--plain": "run it with plain NumPy only",
        "--full": "explain every kernel, not a screenful",
        "--compare": "run it with NumPy too; exit code 1 if they differ",
    }
    for option, help in flags.items():
        listed = command == "run" or (command == "explain" and option in ("--full", "--compare"))
        parser.add_argument(
            option, action="store_true", help=help if listed else argparse.SUPPRESS
        )  # fmt: skip

    def listed_help(words: str) -> str:
        return argparse.SUPPRESS if command == WARM else words

    parser.add_argument(
        "--report", "--html", type=_output, metavar="FILE", help=listed_help("an HTML report")
    )
    parser.add_argument(
        "--results", type=_names, metavar="A,B", help=listed_help("global names to compare")
    )
    parser.add_argument(
        "--rtol", type=_tolerance, help=listed_help("tolerance of floats (see the reference)")
    )


def request(command: str, words: list[str]) -> Request:
    """What `run` or `explain` is asked for."""
    options, arguments = _split(words)
    parser = run_parser(command)
    words = [_STRICT_ALL if word == "--strict=all" else word for word in options]
    if wrong := next((word for word in words if word.startswith("--strict=")), None):
        parser.error(f"there is no {wrong}: use --strict or --strict=all")
    chosen = parser.parse_args(words)
    made = _request(chosen, _program(chosen, tuple(arguments), parser))._replace(command=command)
    if made.plain and (made.compare or made.explain or made.report):
        parser.error("--plain runs without Fusewright: it has nothing to compare or explain")
    if made.pyscf and made.plain:
        parser.error("--plain runs without Fusewright: leave out --pyscf")
    if made.pyscf and not _is_installed("pyscf"):
        parser.error(_NO_PYSCF)
    if (made.results or made.rtol is not None) and not (made.compare or made.save):
        parser.error("--results and --rtol belong to --compare")
    if command == WARM and (made.plain or made.compare or made.listens):
        parser.error("it only compiles: nothing is explained or compared")
    if made.listens or made.compare or command == "explain":
        require_extra(f"`fusewright {' '.join([command, *options])}`")
    return made


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Our options with the program's name, and the program's own arguments."""
    position = 0
    while position < len(words):
        word = words[position]
        position += 2 if word in _VALUE_OPTIONS else 1
        if word == "--":
            return words[: position - 1] + words[position : position + 1], words[position + 1 :]
        if word == "-m" or word == "-" or not word.startswith("-"):
            break
    return words[:position], words[position:]


def _program(
    chosen: argparse.Namespace, arguments: tuple[str, ...], parser: argparse.ArgumentParser
) -> Program:
    if chosen.module is not None:
        return Program("module", chosen.module, arguments)
    if chosen.program is None:
        parser.error("which program?")
    if chosen.program == "-":
        return Program("stdin", "-", arguments)
    return program_of_file(chosen.program, arguments)


def _request(chosen: argparse.Namespace, program: Program) -> Request:
    return Request(
        program=program,
        explain=chosen.explain or chosen.full,
        full=chosen.full,
        report=chosen.report,
        compare=chosen.compare,
        results=chosen.results,
        rtol=chosen.rtol,
        strict=chosen.strict,
        threads=chosen.threads,
        fuse=chosen.fuse,
        plain=chosen.plain,
        save=chosen.save,
        library=chosen.library,
        pyscf=chosen.pyscf,
    )


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return number


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(name.isidentifier() for name in names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of names such as a,b")
    return names


def _output(text: str) -> Path:
    """A file that can be written: better refused now than after the run."""
    path = Path(text).absolute()
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path

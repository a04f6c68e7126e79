"""`fusewright doctor`: does everything Fusewright needs work on this machine?

Each check either says what it found or fails with what to do about it.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable

from fusewright.base.errors import FusewrightError, FusewrightWarning
from fusewright.base.options import problems
from fusewright.base.values import dataclass
from fusewright.cli.failures import CheckFailed

GREEN, RED = 32, 31
"""Colours of terminals (ECMA-48, "select graphic rendition")."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `help` says what to do when it failed."""

    name: str
    ok: bool
    detail: str
    help: str = ""


def command(chosen: argparse.Namespace) -> int:
    """Run every check and print a line for each; exit code 1 when one failed."""
    # Imported here: the settings are read while it is, and wrong ones would end it.
    settings = environment()
    from fusewright.cli.checks import CHECKS

    findings = [*settings, *(examine(name, check) for name, check in CHECKS.items())]
    for finding in findings:
        print(f"{_word(finding.ok)} {finding.name:<9} {finding.detail}")
        if finding.help:
            print(f"               -> {finding.help}")
    return 0 if all(finding.ok for finding in findings) else 1


def _word(ok: bool) -> str:
    """`OK` or `FAIL`, in colour on a terminal: a doctor needs no package to speak."""
    word, colour = ("OK  ", GREEN) if ok else ("FAIL", RED)
    return f"\x1b[{colour}m{word}\x1b[0m" if sys.stdout.isatty() else word


def examine(name: str, check: Callable[[], str]) -> Finding:
    """Run one check; whatever it raises is a finding, for a doctor must not fall ill."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FusewrightWarning)  # the check of its subject tells it
            return Finding(name, True, check())
    except CheckFailed as failed:
        return Finding(name, False, str(failed), failed.help)
    except FusewrightError as error:
        return Finding(name, False, " ".join((error.what, error.why)).strip(), error.help)
    except Exception as error:  # noqa: BLE001
        help = "please report this with the output of `fusewright info`"
        return Finding(name, False, f"{type(error).__name__}: {error}", help)


def environment() -> list[Finding]:
    """A finding for each variable that is wrong; the other checks run as if there were none."""
    found = problems(os.environ)
    for problem in found:
        del os.environ[problem.name]
    help = "`fusewright help options` lists the variables and their values"
    return [Finding("settings", False, problem.what, help) for problem in found]

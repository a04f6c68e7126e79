"""`fusewright demo`: the main job on a packaged program, checked against NumPy.

`tsunami.py` beside this file is an ordinary NumPy script; `seafloor.npz` is its input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fusewright.cli.console import say
from fusewright.cli.explain import totals
from fusewright.cli.program import Program
from fusewright.cli.run import Request, perform, show
from fusewright.cli.summary import summarise

PROGRAM = Path(__file__).resolve().parent / "tsunami.py"


def command(chosen: argparse.Namespace) -> int:
    """Run it with NumPy, then with Fusewright; print both times, the check, and where the report
    is.
    """
    arguments = (str(chosen.steps),) if chosen.steps else ()
    program = Program("file", str(PROGRAM), arguments)
    request = Request(program, compare=True, report=chosen.report)
    print("A tsunami crosses an ocean basin: an ordinary NumPy program, run twice.")
    print(f"program: {PROGRAM}", flush=True)
    ran = perform(request)
    sys.stdout.flush()
    if ran.compared is None:
        return ran.outcome.code or 1
    print()
    show(request, ran, sys.stdout)
    summary = summarise(ran.profile) if ran.profile is not None else None
    if summary is None or not summary.kernels:
        say("no kernel ran: `fusewright doctor` says why")
        return 1
    print("\n".join(totals(summary)))
    return 0 if ran.compared.agrees else 1

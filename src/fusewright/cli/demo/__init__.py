"""`fusewright demo`: the main job on a packaged program, checked against NumPy.

`tsunami.py` beside this file is an ordinary NumPy script; `seafloor.npz` is its input.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from fusewright.cli.console import say
from fusewright.cli.overview import totals
from fusewright.cli.program import Program
from fusewright.cli.run import Request, perform, show
from fusewright.cli.summary import summarise

FOLDER = Path(__file__).resolve().parent
PROGRAM = "tsunami.py"
INPUT = "seafloor.npz"


def command(chosen: argparse.Namespace) -> int:
    """Run it with NumPy, with Fusewright, and recorded; print the first two times, the check, the
    totals.
    """
    print("A tsunami crosses an ocean basin: an ordinary NumPy program on both sides.")
    print(f"program: {FOLDER / PROGRAM}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fusewright-demo-") as folder:
        # A copy outside the package: its lines are the user's, which a line in here never is.
        for name in (PROGRAM, INPUT):
            shutil.copy(FOLDER / name, folder)
        arguments = (str(chosen.steps),) if chosen.steps else ()
        program = Program("file", str(Path(folder) / PROGRAM), arguments)
        return _run(Request(program, compare=True, report=chosen.report))


def _run(request: Request) -> int:
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

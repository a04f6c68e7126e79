"""`fusewright demo`: the main job on a packaged program, checked against NumPy.

`tsunami.py` beside this file is an ordinary NumPy script; `seafloor.npz` is its input.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from fusewright.base.words import seconds
from fusewright.cli.console import say
from fusewright.cli.overview import split, totals
from fusewright.cli.program import Program
from fusewright.cli.run import Request, perform, show, time_again
from fusewright.cli.summary import summarise

FOLDER = Path(__file__).resolve().parent
PROGRAM = "tsunami.py"
INPUT = "seafloor.npz"
SHOWN = "peak"
"""What the page has a picture of: how high the wave rose at each place."""
NEXT = """\
try next:
  fusewright run --compare program.py    your own program, with both
  fusewright explain program.py          what fused in it, what not, and why
  fusewright gallery                     fifteen more programs"""


def command(chosen: argparse.Namespace) -> int:
    """Run it with NumPy, with Fusewright, recorded, and once more; print the times, the check, the
    parts of the recorded run.
    """
    print("A tsunami crosses an ocean basin: an ordinary NumPy program on both sides.")
    print(f"program: {FOLDER / PROGRAM}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fusewright-demo-") as folder:
        # A copy outside the package: its lines are the user's, which a line in here never is.
        for name in (PROGRAM, INPUT):
            shutil.copy(FOLDER / name, folder)
        arguments = (str(chosen.steps),) if chosen.steps else ()
        program = Program("file", str(Path(folder) / PROGRAM), arguments)
        return _run(Request(program, compare=True, report=chosen.report, picture=SHOWN))


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
    again = time_again(request)
    if again is not None:
        ratio = ran.compared.theirs / again
        print(f"the next run, its code on disk: {seconds(again)}: {ratio:.2f}x")
    print("a run of its own, in which each step was noted for the page:")
    print("\n".join(split(summary, ran.outcome.seconds)))
    print("\n".join(totals(summary)))
    print(NEXT)
    return 0 if ran.compared.agrees else 1

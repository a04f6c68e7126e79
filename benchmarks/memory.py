"""Peak memory of a chain of twenty element-wise operators on two inputs of 1e8 float64, each
library in its own process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from peak import ELEMENTS, LIBRARIES
from report import start

CHILD = Path(__file__).with_name("peak.py")
NEEDED = 3 * 8 * ELEMENTS
"""Two inputs and the output."""


def measured(library: str) -> int:
    """Bytes above what was resident before the inputs were made."""
    command = [sys.executable, str(CHILD), library]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{library}: {done.stderr}")
    return int(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    report = start("memory", __doc__ or "")
    section = report.section("Peak above the start", "library", "GB", "of inputs + output")
    names = ("fusewright", "numpy") if report.quick else tuple(LIBRARIES)
    for name in names:
        most = measured(name)
        section.add(name, f"{most / 1e9:.3f}", f"{most / NEEDED:.1%}")
        if name == "fusewright":
            report.claim(
                "peak memory", "inputs + output + 5 %", f"{most / NEEDED - 1:+.1%}",
                most <= 1.05 * NEEDED,
            )  # fmt: skip
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs the array API standard's public test suite under NumPy and the drop-in, and writes a table.

    git clone --recursive https://github.com/data-apis/array-api-tests
    pip install "hypothesis>=6.151" "ndindex>=1.8" pytest-json-report array-api-strict
    python tools/array_api.py array-api-tests [-o TABLE] [--examples 20]

Each column is a process of its own.  The suite draws by chance; deadlines are off, because the
first call of a kernel compiles it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = "2025.12"
COLUMNS = {
    "NumPy": ("numpy", {}),
    "by default": ("fusewright.numpy", {}),
    "small=0": ("fusewright.numpy", {"FUSEWRIGHT_SMALL": "0"}),
}
"""The module under test, and settings."""
REASONS = (
    (r"floor_divide|floordiv", "NumPy's values for infinite operands"),
    (r"test_eigv?", "NumPy's type: real eigenvalues of real matrices where all are real"),
    (r"test_argsort", "NumPy's default order of equal elements, which few draws meet"),
    (r"test_finfo", "NumPy's own object: its fields have the type they describe"),
)
"""Why tests fail that are not mended, by a pattern of their names."""
Failures = dict[str, list[str]]


def run(suite: Path, module: str, settings: dict[str, str], examples: int) -> str:
    """What pytest prints."""
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    environment = os.environ | settings | {
        "ARRAY_API_TESTS_MODULE": module, "ARRAY_API_TESTS_VERSION": VERSION, "PYTHONPATH": path,
    }  # fmt: skip
    command = (
        sys.executable, "-m", "pytest", "array_api_tests", "-q", "--tb=no",
        "-p", "no:cacheprovider", "--max-examples", str(examples), "--hypothesis-disable-deadline",
    )  # fmt: skip
    done = subprocess.run(
        command, cwd=suite, env=environment, capture_output=True, text=True, check=False
    )
    if not re.search(r"\d+ passed", done.stdout):
        raise SystemExit(f"the suite does not run under {module}:\n{done.stdout[-3000:]}")
    return done.stdout


def failures(output: str) -> list[str]:
    """The tests that failed."""
    found = re.findall(
        r"^(?:FAILED|ERROR) \S*/(test_\w+\.py::.+?)(?: - .*)?$", output, re.MULTILINE
    )
    return sorted(set(found))


def summary(output: str) -> str:
    """The last line's counts."""
    return ", ".join(re.findall(r"\d+ (?:passed|failed|skipped|errors?)", output.splitlines()[-1]))


def reason(test: str) -> str:
    """Why a test fails, where that is known."""
    return next((why for pattern, why in REASONS if re.search(pattern, test)), "")


def table(counts: dict[str, str], failed: Failures) -> str:
    """The page: counts, and every failure with the columns it is in."""
    lines = [
        f"# Array API standard {VERSION}",
        "",
        "`python tools/array_api.py array-api-tests`",
        "",
    ]
    lines += ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in counts.items()), ""]
    lines += [f"| test | {' | '.join(failed)} | why |", f"|---|{'---|' * len(failed)}---|"]
    for test in _all(failed.values()):
        marks = ("fails" if test in tests else "" for tests in failed.values())
        lines.append(
            f"| `{test.replace('|', chr(92) + '|')}` | {' | '.join(marks)} | {reason(test)} |"
        )
    return "\n".join(lines) + "\n"


def _all(lists: Iterable[list[str]]) -> list[str]:
    return sorted({test for tests in lists for test in tests})


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("suite", type=Path, help="a checkout of data-apis/array-api-tests")
    parser.add_argument("--examples", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    counts: dict[str, str] = {}
    failed: Failures = {}
    for name, (module, settings) in COLUMNS.items():
        output = run(given.suite, module, settings, given.examples)
        counts[name], failed[name] = summary(output), failures(output)
    text = table(counts, failed)
    print(text)
    if given.output:
        given.output.write_text(text)


if __name__ == "__main__":
    main()

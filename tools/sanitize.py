"""The native core under the address and undefined-behaviour sanitizers: `python tools/sanitize.py`.

Builds the core with `-fsanitize=address,undefined` in a folder of its own and runs with it: tests
(those given, else `tests/unit/core`, the properties and the calls of kernels), then random programs
of `tools/fuzz.py`.  Leaks of memory are not looked for, since CPython keeps some for good;
`tests/unit/core/test_leaks.py` counts references instead.  Needs gcc with its sanitizers (Debian:
`libasan8`, `libubsan1`), and takes about half an hour.

    python tools/sanitize.py                          # everything
    python tools/sanitize.py --programs 0 tests/unit/core/test_leaks.py
    python tools/sanitize.py --programs 5000 --seed 7 --no-tests
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = ("tests/unit/core/test_arguments.py", "tests/unit/core/test_steady.py")
"""The first starts thousands of processes, an hour here; the second counts the process's pages, of
which the sanitizer keeps many.
"""
TESTS = ("tests/unit/core", "tests/properties", "tests/unit/kernels/test_kinds_of_calls.py")
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -g -O1"
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "PYTHONMALLOC": "malloc",  # each object by itself, so that a stray use of it is seen
}


def library(name: str) -> str:
    """Where the compiler has a library of its own."""
    found = subprocess.run(
        ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()
    if not os.path.isabs(found):
        sys.exit(f"gcc has no {name}: install its sanitizers (Debian: libasan8 and libubsan1)")
    return found


def build(folder: Path) -> Path:
    """The package with a core that is looked after; its folder of sources."""
    for name in ("src", "tests", "tools", "examples", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so", "build"))
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(ROOT / name, folder)
    source = folder / "src"
    settings = {"CFLAGS": FLAGS, "LDFLAGS": FLAGS, "PYTHONPATH": str(source), "CC": "gcc"}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env=os.environ | settings, check=True)
    return source


def arguments() -> tuple[argparse.Namespace, list[str]]:
    """What the command takes; what it does not know is for pytest."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tests", nargs="*", help="what pytest is given")
    parser.add_argument("--no-tests", action="store_true", help="random programs alone")
    parser.add_argument("--programs", type=int, default=2000, help="random programs of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the random programs")
    return parser.parse_known_args()


def commands(chosen: argparse.Namespace, passed: list[str]) -> list[list[str]]:
    """What is run, in order."""
    tests = chosen.tests or [*TESTS, *(f"--deselect={path}" for path in LEFT_OUT)]
    checked = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *passed]
    amount = ["--seed", f"{chosen.seed}", "--count", f"{chosen.programs}"]
    fuzzed = [["tools/fuzz.py", "--kind", kind, *amount] for kind in ("arrays", "kernels")]
    return [*([] if chosen.no_tests else [checked]), *(fuzzed if chosen.programs > 0 else [])]


def main() -> int:
    """Build it, run everything, say how much went wrong."""
    chosen, passed = arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = {
            "PYTHONPATH": str(build(folder)),
            "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
            "FUSEWRIGHT_CACHE_DIR": str(folder / "cache"),
            **OPTIONS,
        }
        failed = 0
        for command in commands(chosen, passed):
            done = subprocess.run(
                [sys.executable, *command], cwd=folder, env=os.environ | settings, check=False
            )
            failed += done.returncode != 0
            print(f"{command[0]} ended with {done.returncode}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())

"""Runs a program of the corpus in processes of its own, and compares what they computed.

Five kinds of process: plain NumPy, Fusewright with an empty cache folder (`cold`), and the two
processes after it, which find its code on disk.  They take turns, so a busy moment of the machine
hits all of them.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.corpus_programs import Program

from fusewright.cli.compare import RTOL, compare_all

ROOT = Path(__file__).resolve().parent.parent
STUBS = ROOT / "benchmarks" / "corpus" / "stubs"
KINDS = ("plain", "cold", "second", "third")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Run:
    """One process: `inside` is the program's own time and `whole` the process's, in seconds;
    `peak` is in bytes.  `error` is its last line on standard error, where it failed; `samples` says
    which files' code ran, where somebody looked (`corpus_where.py`).
    """

    inside: float
    whole: float
    peak: int
    error: str
    results: dict[str, Any]
    stdout: str
    samples: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """Best times of each kind of process, and how the results compare: `verdict` is `ok`, `wrong`,
    `crash` or `unusable` (plain NumPy failed), `detail` says more.
    """

    program: Program
    inside: dict[str, float]
    whole: dict[str, float]
    peak: dict[str, int]
    verdict: str
    detail: str

    def ratio(self, kind: str, whole: bool = False) -> float:
        """NumPy's time over ours."""
        times = self.whole if whole else self.inside
        return times["plain"] / times[kind] if times.get(kind) else float("nan")

    @property
    def memory(self) -> float:
        """Our largest peak over NumPy's."""
        return max(self.peak[kind] for kind in self.peak) / self.peak["plain"]


def measure(program: Program, entry: Path, repeat: int, timeout: float, ours: bool) -> Measured:
    """Run it `repeat` times in each kind of process; only plain NumPy unless `ours`."""
    runs: dict[str, list[Run]] = {}
    verdict, detail = "ok", ""
    for _ in range(repeat):
        with tempfile.TemporaryDirectory(prefix="corpus-cache-") as cache:
            for kind in KINDS if ours else KINDS[:1]:
                run = run_once(program, entry, kind, Path(cache), timeout)
                if run.error:
                    verdict, detail = "unusable" if kind == "plain" else "crash", run.error
                    break
                runs.setdefault(kind, []).append(run)
        if verdict != "ok":
            break
    if verdict == "ok" and ours:
        different = [
            f"{kind}: {text}"
            for kind in KINDS[1:]
            if (text := differences(program, runs[kind][0], runs["plain"][0]))
        ]
        verdict, detail = ("wrong", different[0]) if different else (verdict, detail)
    return Measured(
        program,
        {kind: min(run.inside for run in found) for kind, found in runs.items()},
        {kind: min(run.whole for run in found) for kind, found in runs.items()},
        {kind: max(run.peak for run in found) for kind, found in runs.items()},
        verdict,
        detail,
    )


def run_once(program: Program, entry: Path, kind: str, cache: Path, timeout: float) -> Run:
    """One process in the program's folder, which is as before afterwards."""
    command = [sys.executable, entry.name, *program.arguments]
    if kind != "plain":
        command[1:1] = ["-m", "fusewright", "run"]
    with tempfile.TemporaryDirectory(prefix="corpus-record-") as record, _restored(entry):
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(STUBS), str(ROOT / "src")]),
            "PYTHONHASHSEED": "0",
            "CORPUS_RECORD": record,
            "FUSEWRIGHT_CACHE_DIR": str(cache),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as on a user's machine
        begun = time.perf_counter()
        try:
            done = subprocess.run(
                command, cwd=entry.parent, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return _failed(f"no end after {timeout:.0f} s")
        whole = time.perf_counter() - begun
        return _read(done, Path(record), whole)


def _failed(error: str) -> Run:
    return Run(float("nan"), float("nan"), 0, error, {}, "")


def _read(done: subprocess.CompletedProcess[bytes], record: Path, whole: float) -> Run:
    if done.returncode:
        lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        return _failed(lines[-1].strip() if lines else f"exit code {done.returncode}")
    if not (record / "record.json").exists():
        return _failed("the program did not come to its end")
    seen = json.loads((record / "record.json").read_text(encoding="utf-8"))
    # Written by the process that has just run here, so unpickling it is as safe as running it.
    results = pickle.loads((record / "results.pickle").read_bytes())
    stdout = done.stdout.decode(errors="replace")
    looked = record / "samples.txt"
    samples = looked.read_text(encoding="utf-8") if looked.exists() else ""
    return Run(seen["seconds"], whole - seen["saving"], seen["peak"], "", results, stdout, samples)


@contextmanager
def _restored(entry: Path) -> Iterator[None]:
    """Take away what the program writes into its folder, but for compiled modules."""
    folder = entry.parent
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    yield
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and "__pycache__" not in path.parts:
            if path not in before:
                path.unlink()
            elif path.read_bytes() != before[path]:
                path.write_bytes(before[path])
    for path in before:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(before[path])


def differences(program: Program, ours: Run, theirs: Run) -> str:
    """The first difference between two runs in words; empty when they agree."""
    left, right = ({n: a for n, a in run.results.items() if n not in program.ignore}
                   for run in (ours, theirs))  # fmt: skip
    if left or right:
        for row in compare_all(left, right, None):
            loose = max(program.rtol, RTOL.get(row.dtype, 0.0))
            near = row.largest_relative <= loose and row.problem.endswith("elements differ")
            if row.problem and not near and not _scaled(left, right, row.name, loose):
                return f"{row.name}: {row.problem} (relative {row.largest_relative:.1e})"
    if program.stdout and not same_text(ours.stdout, theirs.stdout, program.rtol):
        return "the printed text differs"
    return ""


def _scaled(left: dict[str, Any], right: dict[str, Any], name: str, rtol: float) -> bool:
    """Whether a result agrees at the program's tolerance, relative to its largest elements."""
    if name not in left or name not in right:
        return False
    rows = compare_all({name: left[name]}, {name: right[name]}, rtol)
    return not rows[0].problem


def same_text(ours: str, theirs: str, rtol: float) -> bool:
    """Equal texts but for the last digits of numbers."""
    if ours == theirs:
        return True
    if _NUMBER.sub("#", ours).split() != _NUMBER.sub("#", theirs).split():
        return False
    pairs = zip(_NUMBER.findall(ours), _NUMBER.findall(theirs), strict=False)
    return all(_close(float(a), float(b), rtol) for a, b in pairs)


def _close(a: float, b: float, rtol: float) -> bool:
    return abs(a - b) <= rtol * max(abs(a), abs(b)) or max(abs(a), abs(b)) < 1e-12

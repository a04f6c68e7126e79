"""Runs NumPy's own tests under the drop-in, file by file, and writes a table.

    python tools/numpy_tests.py [-o TABLE] [--only PART] [--jobs N] [--details FILE] [--raw FOLDER]

The tests ship in NumPy's wheel.  They are copied to a temporary folder, where they are a user's
modules: what they import from NumPy is redirected.  Counted are tests that pass in this environment
under plain NumPy.  A test that fails is *not applicable* where a rule below says so: it is about
something the drop-in does not claim.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SETTINGS = {"plain": None, "default": "512", "small=0": "0"}
"""Columns: plain NumPy, and the drop-in with values of the option `small`."""
SECONDS = 1200
"""For one file under one setting."""
LEFT_OUT = {
    "f2py": "a compiler of Fortran",
    "typing": "types of NumPy's stubs, checked by mypy",
    "distutils": "a build tool",
    "test_public_api.py": "NumPy's list of its own modules",
    "test_scripts.py": "scripts of NumPy's",
    "test_configtool.py": "scripts of NumPy's",
    "test_cython.py": "a compiler",
    "test_limited_api.py": "a compiler",
    "test_mem_policy.py": "a compiler",
    "test_extending.py": "a compiler",
    "test_ccompiler_opt.py": "a compiler",
    "test_ccompiler_opt_conf.py": "a compiler",
    "test_cpu_features.py": "what NumPy's binary was compiled for",
    "test_cpu_dispatcher.py": "what NumPy's binary was compiled for",
    "test_simd.py": "a test module in C",
    "test_simd_module.py": "a test module in C",
    "test_argparse.py": "a test module in C",
    "test_array_coercion.py": "a test module in C",
    "test_casting_unittests.py": "a test module in C",
    "test_custom_dtypes.py": "a test module in C",
    "test_abc.py": "NumPy's own classes",
    "test_machar.py": "NumPy's own classes",
    "test_mem_overlap.py": "a test module in C",
    "test_hashtable.py": "a test module in C",
    "test__exceptions.py": "NumPy's own classes",
    "test_stringdtype.py": "strings",
    "test_strings.py": "strings",
    "test_defchararray.py": "strings",
    "test_records.py": "records",
    "test_recfunctions.py": "records",
    "test_datetime.py": "dates",
}
"""Folders and files that are not run, and why."""
NOT_RUN = "not incref_elide"
"""Tests by name: functions of NumPy's test modules in C read an argument's memory whatever it
is, and crash with what is not NumPy's.
"""
NOT_CLAIMED = (
    (r"refcount|leak|_gc_|getrefcount", "counts of references"),
    (r"dtype\(?.?.?object|dtype=object|object_|[-\[]O[-\]]|'O'|object.*arr|arr.*object", "objects"),
    (r"_obj|obj_|Object|object dtype|dtype object|[-\[]object", "objects"),
    (r"StringDType|(?i:string|unicode|bytes_|chararray)|<U|\|S\d|[-\[][SU]\d*[-\]]", "strings"),
    (r"(?i:datetime|timedelta|busday)|\[ns\]|NaT|[-\[][mM]8?[-\]]", "dates"),
    (r"(?i:record|structured|void|field|_struct)", "records"),
    (r"longdouble|float128|complex256|[-\[][gG][-\]]|longcomplex", "long double"),
    (r"(?i:subclass|matrix|MaskedArray|memmap)", "subclasses of NumPy's array"),
    (
        r"TextSignatures|TestCAPI|NPY_|PyArray|umath_tests|_rational|[nN]diter|NpyIter|capi|C-API",
        "C internals",
    ),
    (
        r"_multiarray_tests|require base class ndarray|TestNeighborhoodIter|TestAsCArray",
        "C internals",
    ),
    (
        r"TestDevice::test___array_namespace__|test_set_module|test_function_like"
        r"|TestArrayLike::test_array_like(_fromfile)?\[True|test_nep35_functions"
        r"|test_squeeze_type|TestNonzero::test_return_type|test_ensure_array|TestDiff::test_n$"
        r"|handle\.(View|Array|Scalar)'>",
        "identity of types and modules",
    ),
    (
        r"Regex pattern did not match|\" does not match \"|error_reports_correct_shape",
        "words of errors",
    ),
    (r"[-\[](u?longlong|[qQ])[-\]]", "`long long` as a type beside `int64`"),
    (
        r"DID NOT WARN|0 warnings found|ComplexWarning|FloatingPointError|RuntimeWarning|_fpe"
        r"|err(state|call)",
        "warnings of floating point and of deprecation",
    ),
)
"""By what a failing test's name and message contain: what the drop-in does not claim."""


class Collector:
    """A plugin of pytest: one word and one line for each test."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid.partition("::")[2]
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash else str(report.longrepr)
            self.found[name] = ("failed", message[:300])
        elif report.skipped:
            self.found.setdefault(name, ("skipped", ""))
        elif report.when == "call":
            self.found[name] = ("passed", "")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.found["collection"] = ("failed", str(report.longrepr)[-300:])


def child(file: str, plain: bool, target: str) -> None:
    """In a process of its own: the tests of one file."""
    import pytest

    if not plain:
        from fusewright.cli.redirect import redirect

        redirect([str(Path(file).parent)])
    collector = Collector()
    words = ["--assert=plain", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    words += [
        "--import-mode=importlib",
        "-W",
        "ignore",
        "-m",
        "not slow",
        "-k",
        NOT_RUN,
        "--tb=line",
        "-c",
        os.devnull,
    ]
    try:
        pytest.main([*words, "--rootdir", str(Path(file).parent), file], plugins=[collector])
    finally:
        Path(target).write_text(json.dumps(collector.found))


def run(file: Path, setting: str, folder: Path) -> dict[str, Any]:
    """The outcome of each test of a file, in a copy."""
    home = folder / setting / "_".join(file.parts[-3:])
    target = home / "found.json"
    if target.exists():
        return json.loads(target.read_text())  # type: ignore[no-any-return]
    home.mkdir(parents=True, exist_ok=True)
    copy = home / file.name
    shutil.copy(file, copy)
    if (file.parent / "data").is_dir():
        shutil.copytree(file.parent / "data", home / "data", dirs_exist_ok=True)
    environment = dict(os.environ)
    small = SETTINGS[setting]
    if small is not None:
        environment["FUSEWRIGHT_SMALL"] = small
    words = [sys.executable, __file__, "--child", str(copy), str(int(small is None)), str(target)]
    try:
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=SECONDS, cwd=home
        )
        note = done.stderr[-300:]
    except subprocess.TimeoutExpired:
        note = "out of time"
    found: dict[str, Any] = json.loads(target.read_text()) if target.exists() else {}
    return found or {"process": ("failed", note)}


def why_not(name: str, message: str) -> str | None:
    """The reason for which a failing test does not count."""
    for pattern, reason in NOT_CLAIMED:
        if re.search(pattern, name) or re.search(pattern, message):
            return reason
    return None


def files(only: str) -> list[Path]:
    """NumPy's test files."""
    import numpy

    root = Path(numpy.__file__).parent
    found = sorted(root.rglob("tests/test_*.py"))
    return [
        path for path in found if only in str(path.relative_to(root))
        and not set(path.relative_to(root).parts) & LEFT_OUT.keys()
    ]  # fmt: skip


def same_places(plain: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Outcomes by the names they have in plain NumPy: names contain how functions are written, so
    that of tests known under another name the place among a function's tests counts.
    """
    left: dict[str, list[Any]] = {}
    for name, outcome in found.items():
        if name not in plain:
            left.setdefault(name.partition("[")[0], []).append(outcome)
    missing: dict[str, list[str]] = {}
    for name in plain:
        if name not in found:
            missing.setdefault(name.partition("[")[0], []).append(name)
    same = {test: names for test, names in missing.items() if len(left.get(test, ())) == len(names)}
    return {
        name: outcome for test, names in same.items()
        for name, outcome in zip(names, left[test], strict=True)
    }  # fmt: skip


def summary(outcomes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Counts for one file: tests that pass in plain NumPy, and what became of them."""
    counted = [name for name, (word, _) in outcomes["plain"].items() if word == "passed"]
    result: dict[str, Any] = {"tests": len(counted)}
    for setting in SETTINGS:
        if setting == "plain":
            continue
        found, failed, reasons = outcomes[setting], [], Counter[str]()
        found = found | same_places(outcomes["plain"], found)
        broken = found.get("collection") or found.get("process")
        for name in counted:
            word, message = found.get(name, ("failed", broken[1] if broken else "did not run"))
            reason = why_not(name, message) if word == "failed" and not broken else None
            if reason:
                reasons[reason] += 1
            elif word == "failed":
                failed.append((name, message))
        if broken and not reasons:
            print("broken:", broken[1], file=sys.stderr)
        result[setting] = {"failed": failed, "not applicable": reasons}
    return result


def table(results: dict[str, dict[str, Any]]) -> str:
    """The committed page."""
    import numpy

    lines = [
        "| file | tests | failed, default | n/a | failed, `small=0` | n/a |",
        "|---|---|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    reasons = {setting: Counter[str]() for setting in SETTINGS}
    for file, result in results.items():
        row = [file, str(result["tests"])]
        total["tests"] += result["tests"]
        for setting in ("default", "small=0"):
            failed, apart = result[setting]["failed"], result[setting]["not applicable"]
            row += [str(len(failed) or ""), str(sum(apart.values()) or "")]
            total[setting] += len(failed)
            total[setting + " n/a"] += sum(apart.values())
            reasons[setting] += Counter(apart)
        lines.append(f"| {' | '.join(row)} |")
    row = ["**all**", str(total["tests"])]
    for setting in ("default", "small=0"):
        row += [str(total[setting]), str(total[setting + " n/a"])]
    lines += [f"| {' | '.join(row)} |", ""]
    first = [
        "# NumPy's own tests under the drop-in", "",
        f"NumPy {numpy.__version__}; `python tools/numpy_tests.py`. Counted are the",
        f"{total['tests']} tests that pass here under plain NumPy; *n/a* are failures about what",
        "the drop-in does not claim (rules in the tool). Slow tests are left out.", "",
    ]  # fmt: skip
    for setting in ("default", "small=0"):
        claimed = total["tests"] - total[setting + " n/a"]
        share = 100 * (claimed - total[setting]) / max(claimed, 1)
        apart = ", ".join(f"{reason} {count}" for reason, count in reasons[setting].most_common())
        passed = f"{claimed - total[setting]} of {claimed} pass, {share:.2f} %"
        first.append(f"* {setting}: {passed}. Not applicable: {apart}.")
    left = sorted(f"`{name}` ({why})" for name, why in LEFT_OUT.items())
    return "\n".join([*first, "", *lines, f"Not run: {', '.join(left)}.", ""])


def main() -> None:
    """Run what was asked for."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3] == "1", sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--only", default="", help="a part of the files' names")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--details", type=Path, help="every failing test, as JSON")
    parser.add_argument("--raw", type=Path, help="outcomes kept from file to file, and from before")
    chosen = parser.parse_args()
    folder = chosen.raw or Path(tempfile.mkdtemp())
    results: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for file in files(chosen.only):
            tasks = {each: pool.submit(run, file, each, folder) for each in SETTINGS}
            outcomes = {each: task.result() for each, task in tasks.items()}
            name = "/".join(part for part in file.parts[-3:] if part != "tests")
            results[name] = summary(outcomes)
            counts = [len(results[name][each]["failed"]) for each in ("default", "small=0")]
            print(name, results[name]["tests"], *counts, flush=True)
            if chosen.details:
                chosen.details.write_text(json.dumps(results, indent=1))
    if chosen.raw is None:
        shutil.rmtree(folder, ignore_errors=True)
    page = table(results)
    (chosen.output.write_text if chosen.output else print)(page)


if __name__ == "__main__":
    main()

"""Functions that people wrote for Numba, as kernels: `python -m tools.kernel_corpus --sources DIR`.

`benchmarks/corpus/kernels.toml` names them by repository, commit, path and function, and says how
their arguments are made.  Their text is not here: DIR holds clones at `OWNER+NAME`.  Each function
runs as CPython runs it and with `@fw.kernel` in the place of Numba's decorator; what they return
and what they write is compared.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import select
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from tools.kernel_sources import arguments, load, reduced

import fusewright as fw

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "benchmarks" / "corpus" / "kernels.toml"
RTOL = 1e-12
"""Elementary functions, `np.dot` and complex quotients differ in their last digits; all else has
the same bits, which the table says."""
SIZE = 24
SECONDS = 20

Row = dict[str, Any]


def text_of(row: Row, sources: Path) -> str:
    """The module of a row at its commit."""
    folder = sources / row["repository"].replace("/", "+")
    folder = folder / "repo" if (folder / "repo").is_dir() else folder
    folder = folder / ".git" if (folder / ".git").is_dir() else folder
    command = ["git", f"--git-dir={folder}", "show", f"{row['commit']}:{row['path']}"]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")


def flat(value: Any) -> list[Any]:
    """The arrays and numbers of a result, in order."""
    if isinstance(value, tuple | list):
        return [part for each in value for part in flat(each)]
    return [value]


def of_cpython(plain: Callable[..., Any], given: list[Any], again: list[Any]) -> tuple[Any, Any]:
    """What CPython gives, and which elements nobody set: those of `np.empty`."""

    def filled(content: int, arguments: list[Any]) -> Any:
        def empty(shape: Any, dtype: Any = float, **_: Any) -> Any:
            return np.full(shape, content, dtype)

        with mock.patch.object(np, "empty", empty):
            return flat([seeded(plain)(*arguments), *arguments])

    again = copy.deepcopy(again)
    found = copy.deepcopy(again)
    pairs = zip(filled(3, found), filled(5, again), strict=True)
    unset = [None if a is None else np.asarray(a != b) for a, b in pairs]
    return seeded(plain)(*given), unset


def seeded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, drawing the same random numbers each time."""

    def run(*arguments: Any) -> Any:
        np.random.seed(1)
        return function(*arguments)

    return run


def difference(want: Any, got: Any, unset: list[Any]) -> str:
    """'same bits', 'close', or what is different."""
    wants, gots = flat(want), flat(got)
    if len(wants) != len(gots):
        return f"{len(gots)} results instead of {len(wants)}"
    close = False
    for w, g, nobody_set in zip(wants, gots, unset, strict=True):
        if w is None or g is None:
            if w is not g:
                return f"{g!r} instead of {w!r}"
            continue
        a, b = np.asarray(w), np.asarray(g)
        if a.shape != b.shape:
            return f"shape {b.shape} instead of {a.shape}"
        if a.dtype != b.dtype:
            return f"{b.dtype} instead of {a.dtype}"
        if nobody_set.any() and a.shape == nobody_set.shape:
            nan = np.isnan(a) if a.dtype.kind in "fc" else False
            a, b = a[~nobody_set | nan], b[~nobody_set | nan]
        if np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
            continue
        rtol = 1e-5 if a.dtype in (np.float32, np.complex64) else RTOL
        if a.dtype.kind not in "fc" or not np.allclose(a, b, rtol, rtol, equal_nan=True):
            return "other values"
        close = True
    return "close" if close else "same bits"


def seconds(function: Callable[..., Any], given: list[Any]) -> float:
    """The least time of a call, of at most 200 calls or a fifth of a second."""
    least, until = math.inf, time.perf_counter() + 0.2
    for _ in range(200):
        start = time.perf_counter()
        function(*given)
        end = time.perf_counter()
        least = min(least, end - start)
        if end > until:
            break
    return least


def outcome(row: Row, sources: Path) -> Row:
    """What became of one function: `outcome`, `why`, and the times of a call."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.py"
        path.write_text(reduced(text_of(row, sources)))
        plain = getattr(load(path, lambda f: f, "plain_module"), row["function"])
        ours = getattr(load(path, fw.kernel, "kernel_module"), row["function"])
        given = arguments(row["arguments"], SIZE)
        theirs, mine = copy.deepcopy(given), copy.deepcopy(given)
        want, unset = of_cpython(plain, theirs, given)
        try:
            got = seeded(ours)(*mine)
        except fw.FusewrightError as error:
            return {"outcome": "refused", "why": str(error)}
        except Exception as error:  # noqa: BLE001  (a row of the table)
            return {"outcome": "failed", "why": f"{type(error).__name__}: {error}"}
        found = difference([want, *theirs], [got, *mine], unset)
        if found not in ("same bits", "close"):
            return {"outcome": "wrong", "why": found}
        times = {"python": seconds(plain, theirs), "ours": seconds(ours, mine)}
        return {"outcome": "runs", "why": found, **times}


def apart(work: Callable[[], Row]) -> Row:
    """The result of `work` in a process of its own, which may die or take too long."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            result = work()
        except BaseException as error:  # noqa: BLE001  (a row of the table)
            result = {"outcome": "harness", "why": f"{type(error).__name__}: {error}"}
        os.write(write, json.dumps(result).encode())
        os._exit(0)
    os.close(write)
    if not select.select([read], [], [], SECONDS)[0]:
        os.kill(child, signal.SIGKILL)
    data = os.read(read, 1 << 20)
    os.close(read)
    os.waitpid(child, 0)
    return json.loads(data) if data else {"outcome": "failed", "why": f"died, or over {SECONDS} s"}


def micro(value: float | None) -> str:
    """Microseconds, or nothing."""
    return "" if value is None else f"{value * 1e6:.1f}"


def page(rows: list[Row]) -> str:
    """The table, after the counts for each half."""
    lines = ["# Functions written for Numba, run as kernels", ""]
    lines += ["`python -m tools.kernel_corpus`. Times are of one call, in microseconds; arrays of"]
    lines += [f"{SIZE} elements in each dim, so small functions show what a call costs.", ""]
    for half in ("open", "held"):
        of_half = [r for r in rows if r["half"] == half]
        counts = {
            o: sum(r["outcome"] == o for r in of_half)
            for o in sorted({r["outcome"] for r in of_half})
        }
        said = ", ".join(f"{count} {name}" for name, count in counts.items())
        lines.append(f"* {half}: {len(of_half)} functions: {said}")
    lines += [
        "",
        "| function | repository | outcome | Python | ours | Numba | |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        why = r["why"].splitlines()[0].replace("|", "\\|") if r["why"] else ""
        times = " | ".join(micro(r.get(k)) for k in ("python", "ours", "numba"))
        half = " (held)" if r["half"] == "held" else ""
        lines.append(
            f"| `{r['function']}` | {r['repository']}{half} | {r['outcome']} | {times} | {why} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the rows that are asked for, and print their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder of clones OWNER+NAME")
    parser.add_argument("--half", choices=("open", "held", "all"), default="open")
    parser.add_argument("--only", default="", help="functions whose name begins so")
    parser.add_argument("--write", type=Path, help="where the page is kept")
    parser.add_argument("--json", type=Path, help="where whole messages are kept")
    parser.add_argument("--numba", type=Path, help="Numba's times, as JSON of names, if measured")
    options = parser.parse_args()
    rows = [
        r
        for r in tomllib.loads(MANIFEST.read_text())["kernel"]
        if r["function"].startswith(options.only)
    ]
    numba = json.loads(options.numba.read_text()) if options.numba else {}
    done = []
    for row in rows:
        if options.half not in (row["half"], "all"):
            continue
        result = apart(lambda row=row: outcome(row, options.sources))  # type: ignore[misc]
        name = f"{row['repository']}:{row['path']}:{row['function']}"
        done.append({**row, **result, "numba": numba.get(name)})
    text = page(done)
    print(text)
    if options.write:
        options.write.write_text(text)
    if options.json:
        options.json.write_text(json.dumps(done, indent=1))


if __name__ == "__main__":
    main()

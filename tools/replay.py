"""Did a change of the compiler change what it does?  Records programs under a commit, and compares
two recordings part by part.

    python -m tools.replay record HEAD        what the working tree's programs do under a commit
    python -m tools.replay record .           under the working tree itself
    python -m tools.replay diff main .        what changed; records what is missing
    python -m tools.replay diff main . --show ir --only snippets/where
    python -m tools.replay repeat .           whether recording twice gives the same

Recorded of each program: the text of statements, plans and LLVM modules, the bits of its results,
kernels and their bytes, allocations, compilations (`replay_worker` says how).  Recordings lie in
the platform's cache folder or in `--store`, never in the repository.  A commit's package is built
in a temporary folder beside the interpreter's other packages: only the C core is compiled.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs
from tools.replay_diff import EQUAL, TEXTS, VERDICTS, Change, compared, difference, table
from tools.replay_programs import ROOT, Recorded, catalogue
from tools.replay_worker import SETTINGS

NEEDED = ("src", "pyproject.toml", "README.md", "LICENSE")
"""What building the core reads."""
WORKING_TREE = "."
TIMEOUT = 300.0
"""Seconds for one program; the longest takes some ten."""


def main(words: Sequence[str] | None = None) -> int:
    """1 where a recording failed, or where two differ in more than names."""
    asked = _parser().parse_args(words)
    if asked.command == "record":
        folder = _folder(asked.commit, asked.store)
        return int(bool(record(asked.commit, folder, asked, again=True)))
    if asked.command == "repeat":
        return _repeat(asked)
    folders = [_folder(commit, asked.store) for commit in (asked.old, asked.new)]
    for commit, folder in zip((asked.old, asked.new), folders, strict=True):
        if record(commit, folder, asked, again=False):
            return 1
    return _told(asked, *folders)


def _repeat(asked: argparse.Namespace) -> int:
    first = _folder(asked.commit, asked.store)
    if record(asked.commit, first, asked, again=False):
        return 1
    with tempfile.TemporaryDirectory() as second:
        if record(asked.commit, Path(second), asked, again=True):
            return 1
        return _told(asked, first, Path(second))


def _told(asked: argparse.Namespace, old: Path, new: Path) -> int:
    changes = list(_changes(asked, old, new))
    print("\n".join(table(changes)))
    return int(any(change.verdict in VERDICTS[2:] for change in changes))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.replay",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="record programs under a commit")
    recording.add_argument("commit", help="a commit, or . for the working tree")
    repeating = commands.add_parser("repeat", help="record a second time, and compare")
    repeating.add_argument("commit")
    comparing = commands.add_parser("diff", help="compare two recordings")
    comparing.add_argument("old")
    comparing.add_argument("new")
    store = Path(platformdirs.user_cache_dir("fusewright-replay", appauthor=False))
    for command in (comparing, repeating):
        command.add_argument("--show", choices=TEXTS, help="print the lines that changed")
    for command in (recording, comparing, repeating):
        command.add_argument("--store", type=Path, default=store, help="where recordings lie")
        command.add_argument("--only", nargs="+", default=[], metavar="NAME", help="or beginnings")
        command.add_argument("--jobs", type=int, default=2, help="programs at a time")
    return parser


# -- recording -----------------------------------------------------------------------------------


def record(commit: str, folder: Path, asked: argparse.Namespace, again: bool) -> list[str]:
    """Record what was asked for, or what is missing of it; the programs that failed."""
    programs = [p for p in _chosen(asked.only) if again or not _file(folder, p).exists()]
    if not programs:
        return []
    began = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    with package(commit, asked.store) as source, ThreadPoolExecutor(asked.jobs) as pool:
        done = list(pool.map(lambda program: record_program(program, source, folder), programs))
    failed = [program.name for program, error in zip(programs, done, strict=True) if error]
    for error in filter(None, done):
        print(error, file=sys.stderr)
    seconds = time.perf_counter() - began
    print(f"{commit}: {len(programs) - len(failed)} programs in {seconds:.0f} s", file=sys.stderr)
    return failed


def _chosen(only: Sequence[str]) -> list[Recorded]:
    beginnings = tuple(only) or ("",)
    return [program for program in catalogue() if program.name.startswith(beginnings)]


def record_program(program: Recorded, source: Path, folder: Path) -> str:
    """Record one program in a process of its own; what went wrong, if anything."""
    file = _file(folder, program)
    paths = os.pathsep.join((str(source / "src"), str(ROOT)))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FUSEWRIGHT_")}
    words = ["-P", "-m", "tools.replay_worker", program.kind, program.what, str(file)]
    try:
        done = subprocess.run(
            [sys.executable, *words],
            env=kept | SETTINGS | {"PYTHONPATH": paths},
            cwd=source,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return f"{program.name}: not done after {TIMEOUT:.0f} s"
    return f"{program.name}: {done.stderr or done.stdout}" if done.returncode else ""


def _file(folder: Path, program: Recorded) -> Path:
    name = program.name.replace("/", "+").replace(" ", "_")
    return folder / f"{name}.json.gz"


def load(folder: Path, program: Recorded) -> dict[str, Any]:
    """What was recorded of a program."""
    found: dict[str, Any] = json.loads(gzip.decompress(_file(folder, program).read_bytes()))
    return found


def _folder(commit: str, store: Path) -> Path:
    """A recording's folder: by the package's source, and by what else decides what it compiles."""
    source = tree_digest() if commit == WORKING_TREE else _git("rev-parse", f"{commit}:src").strip()
    versions = f"{sys.version}\n{_versions()}\n{programs_digest()}"
    return store / "records" / source / hashlib.sha256(versions.encode()).hexdigest()[:12]


def _versions() -> str:
    command = "import numpy, llvmlite, islpy; print(numpy, llvmlite, islpy)"
    return subprocess.run([sys.executable, "-c", command], capture_output=True, text=True).stdout


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def _files(*folders: str) -> list[Path]:
    """Files of the working tree that git knows or would add."""
    names = _git("ls-files", "-co", "--exclude-standard", "--", *folders).splitlines()
    return [path for name in sorted(set(names)) if (path := ROOT / name).is_file()]


def _digest(paths: Sequence[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        found.update(f"{path.relative_to(ROOT)}\n{len(content)}\n".encode() + content)
    return found.hexdigest()[:12]


def tree_digest() -> str:
    """That of the working tree's package."""
    return f"tree-{_digest(_files('src'))}"


def programs_digest() -> str:
    """That of what is run, and of what runs it."""
    folders = ("examples", "benchmarks/*.py", "tests/programs", "tests/bridges")
    return _digest(_files(*folders, "tools/replay_programs.py", "tools/replay_worker.py"))


# -- the package of a commit ---------------------------------------------------------------------


@contextmanager
def package(commit: str, store: Path) -> Iterator[Path]:
    """A folder with a commit's `src`, its core compiled; nothing in it was compiled ahead."""
    with tempfile.TemporaryDirectory(prefix="fusewright-replay-") as name:
        folder = Path(name)
        if commit == WORKING_TREE:
            for path in _files(*NEEDED):
                target = folder / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        else:
            words = ["git", "archive", commit, *NEEDED]
            archive = subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(folder, filter="data")
        _add_core(folder, store)
        yield folder


def _add_core(folder: Path, store: Path) -> None:
    """Compile the core, or take what the same C was compiled to."""
    sources = sorted((folder / "src" / "fusewright" / "_core").glob("*.[ch]"))
    texts = [folder / "pyproject.toml", *sources]
    digest = hashlib.sha256(sys.version.encode() + b"".join(map(Path.read_bytes, texts)))
    name = f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    kept = store / "cores" / digest.hexdigest()[:16] / name
    built = folder / "src" / "fusewright" / "_core" / name
    if not kept.exists():
        _compile(folder, built)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, kept)
    shutil.copyfile(kept, built)


def _compile(folder: Path, built: Path) -> None:
    """What installing does, but for the operations that it compiles ahead."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    (core,) = project["tool"]["setuptools"]["ext-modules"]
    compiler = (sysconfig.get_config_var("CC") or "cc").split()
    words = [*compiler, "-fPIC", *core["extra-compile-args"]]
    words += [f"-I{sysconfig.get_paths()['include']}", "-DNDEBUG"]

    def compiled(source: str) -> str:
        target = source.removesuffix(".c") + ".o"
        subprocess.run([*words, "-c", source, "-o", target], cwd=folder, check=True)
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, core["sources"]))
    subprocess.run([*compiler, "-shared", *objects, "-o", str(built)], cwd=folder, check=True)


# -- comparing -----------------------------------------------------------------------------------


def _changes(asked: argparse.Namespace, old: Path, new: Path) -> Iterator[Change]:
    for program in _chosen(asked.only):
        before, after = load(old, program), load(new, program)
        change = compared(program.name, before, after)
        if asked.show and change.parts[asked.show] != EQUAL:
            print("\n".join(difference(before, after, asked.show)))
        yield change


if __name__ == "__main__":
    sys.exit(main())

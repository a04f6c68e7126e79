"""The programs of the corpus: rows of the manifest, and their text made ready to run.

A row names a file of a public repository and what is changed in it; the text itself is never in
this repository.  The sources are a folder of checked-out files, `owner+name/commit/path`, which
`git clone` and `git checkout commit` give.
"""

from __future__ import annotations

import ast
import re
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MANIFEST = Path(__file__).resolve().parent.parent / "benchmarks" / "corpus" / "programs.toml"
HALVES = ("open", "held")

PROLOGUE = (
    "import corpus_probe as _probe, random as _random, numpy as _numpy; "
    "_random.seed(0); _numpy.random.seed(0); _probe.start()"
)
"""The program's first line; the imports of NumPy stand in front of the clock on both sides."""
EPILOGUE = "_probe.finish(globals())"

EVERYWHERE = (
    (r"\bdefault_rng\(\)", "default_rng(0)"),
    (r"\bRandomState\(\)", "RandomState(0)"),
)
"""What is changed in every program: generators without a seed get one."""


class ManifestError(Exception):
    """A row of the manifest that cannot be used, or a source that is missing."""


@dataclass(frozen=True, slots=True)
class Program:
    """One row.  `files` are further files it needs and `place` is where it is put; both are paths
    in its repository.  `ignore` are result names that differ between two plain runs, as times do.
    """

    name: str
    repository: str
    commit: str
    path: str
    field: str
    half: str
    files: tuple[str, ...] = ()
    place: str = ""
    replace: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    stdout: bool = True
    rtol: float = 1e-7

    @property
    def entry(self) -> str:
        """Where the program lies in its materialised folder."""
        return self.place or self.path

    def source(self, sources: Path) -> Path:
        """The checked-out repository."""
        return sources / self.repository.replace("/", "+") / self.commit


def read_manifest(path: Path = MANIFEST) -> list[Program]:
    """All rows, checked: names are unique and a repository is in one half only."""
    with path.open("rb") as file:
        rows = tomllib.load(file)["program"]
    programs = [_program(row) for row in rows]
    names = [program.name for program in programs]
    if len(set(names)) != len(names):
        raise ManifestError("a name stands twice in the manifest")
    halves = {program.repository: program.half for program in programs}
    for program in programs:
        if program.half not in HALVES or halves[program.repository] != program.half:
            raise ManifestError(f"{program.name}: its repository must be in one half, open or held")
    return programs


def _program(row: dict[str, object]) -> Program:
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    if "replace" in lists:
        lists["replace"] = tuple((old, new) for old, new in lists["replace"])
    try:
        return Program(**(row | lists))  # type: ignore[arg-type]
    except TypeError as error:
        raise ManifestError(f"{row.get('name', row)}: {error}") from error


def adapt(text: str, replace: Sequence[tuple[str, str]]) -> str:
    """The program's text with its replacements, a first and a last line of ours.

    Each pattern of `replace` must be found, or the row no longer fits the source.
    """
    for pattern, new in replace:
        text, count = re.subn(pattern, new, text, flags=re.MULTILINE)
        if not count:
            raise ManifestError(f"nothing to replace for {pattern!r}")
    for pattern, new in EVERYWHERE:
        text = re.sub(pattern, new, text)
    lines = text.splitlines()
    lines.insert(_after_future_imports(ast.parse(text)), PROLOGUE)
    return "\n".join([*lines, EPILOGUE, ""])


def _after_future_imports(tree: ast.Module) -> int:
    """The number of lines that must stay first: the docstring and `from __future__` imports."""
    first = 0
    for node in tree.body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (is_text or is_future):
            break
        first = node.end_lineno or node.lineno
    return first


def materialise(program: Program, sources: Path, folder: Path) -> Path:
    """Write the adapted program and its files to `folder/name`; return the program's path."""
    source, target = program.source(sources), folder / program.name
    shutil.rmtree(target, ignore_errors=True)
    for name in (program.path, *program.files):
        if not (source / name).is_file():
            raise ManifestError(f"{program.name}: no file {source / name}")
    for name in program.files:
        _put(source / name, target / name)
    text = (source / program.path).read_text(encoding="utf-8", errors="replace")
    entry = target / PurePosixPath(program.entry)
    entry.parent.mkdir(parents=True, exist_ok=True)
    try:
        entry.write_text(adapt(text, program.replace), encoding="utf-8")
    except ManifestError as error:
        raise ManifestError(f"{program.name}: {error}") from None
    return entry


def _put(source: Path, target: Path) -> None:
    """Copy one file; generators without a seed get one in its text too."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    if target.suffix == ".py":
        text = target.read_text(encoding="utf-8", errors="replace")
        for pattern, new in EVERYWHERE:
            text = re.sub(pattern, new, text)
        target.write_text(text, encoding="utf-8")


def chosen(
    programs: Sequence[Program], names: Sequence[str], half: str | None
) -> Iterator[Program]:
    """The rows that were asked for; a name may be the beginning of one."""
    for program in programs:
        if (half is None or program.half == half) and (
            not names or any(program.name.startswith(name) for name in names)
        ):
            yield program

"""The size caps: no file over 400 lines and no function over 40, unless a decision says why; never
over 600 and 60.

A file's lines are all its lines; a function's are those from `def` to its end without the
docstring.  What is over the soft cap must be named, as `path` or `path::function`, in a file under
`docs/decisions/`; over the hard cap nothing helps.

The same caps hold for C, where a function's lines are those from its first brace to its last.  What
was over them when they came is a debt with its size, in `debts.txt` beside this file: it may only
become smaller, and what is paid is struck out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "tools", "benchmarks", "examples")
FILE_CAPS = (400, 600)
FUNCTION_CAPS = (40, 60)


@dataclass(frozen=True, slots=True)
class Measured:
    """The size of one file or function; `name` is what a decision must mention."""

    name: str
    lines: int
    caps: tuple[int, int]

    def complaint(self, excused: str, owed: int = 0) -> str | None:
        """What is wrong with the size; `owed` lines are a debt."""
        soft, hard = self.caps
        if owed and self.lines != owed:
            more = "more than" if self.lines > owed else "less than the"
            return f"{self.name}: {self.lines} lines, {more} {owed} in tools/debts.txt"
        if owed:
            return None
        if self.lines > hard:
            return f"{self.name}: {self.lines} lines, over the hard cap of {hard}"
        if self.lines > soft and f"`{self.name}`" not in excused:
            return (
                f"{self.name}: {self.lines} lines, over the cap of {soft}; "
                "make it smaller or say in docs/decisions/ why not"
            )
        return None


def debts(root: Path) -> dict[str, int]:
    """What is over a cap already: its lines by its name."""
    path = root / "tools" / "debts.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = [line.rsplit(maxsplit=1) for line in lines]
    return {name: int(number) for name, number in pairs}


def _docstring_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(function, clean=False) is None:
        return 0
    first = function.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        inner = prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            end = node.end_lineno or node.lineno
            yield f"{prefix}{node.name}", end - node.lineno + 1 - _docstring_lines(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{prefix}{node.name}."
        yield from _functions(node, inner)


NAME = re.compile(r"(\w+)\(")


def _functions_of_c(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Every function of a file whose functions begin and end with a brace in the first column."""
    first = 0
    for at, line in enumerate(lines):
        if line == "{":
            first = at
        elif line == "}" and first:
            head = next(i for i in range(first - 1, -1, -1) if not lines[i].startswith(" "))
            name = NAME.search(lines[head])
            if name is not None:
                yield name[1], at - first + 1
            first = 0


def measure(path: Path, root: Path = ROOT) -> Iterator[Measured]:
    """The file itself, then every function in it (methods and inner functions too)."""
    source = path.read_text(encoding="utf-8")
    name = path.relative_to(root).as_posix()
    yield Measured(name, len(source.splitlines()), FILE_CAPS)
    if path.suffix != ".py":
        for function, lines in _functions_of_c(source.splitlines()):
            yield Measured(f"{name}::{function}", lines, FUNCTION_CAPS)
        return
    for function, lines in _functions(ast.parse(source), ""):
        yield Measured(f"{name}::{function}", lines, FUNCTION_CAPS)


def main(root: Path = ROOT) -> int:
    """Print every complaint; 1 when there is one."""
    excused = "".join(
        page.read_text(encoding="utf-8") for page in sorted(root.glob("docs/decisions/*.md"))
    )
    files = [
        path
        for folder in FOLDERS
        for kind in ("*.py", "*.c", "*.h")
        for path in sorted((root / folder).rglob(kind))
    ]
    owed = debts(root)
    every = [m for path in files for m in measure(path, root)]
    complaints = [text for m in every if (text := m.complaint(excused, owed.get(m.name, 0)))]
    gone = owed.keys() - {m.name for m in every}
    complaints += [f"{name}: not there, but in tools/debts.txt" for name in sorted(gone)]
    print("\n".join(complaints) or f"{len(files)} files, all within the caps")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

"""Numbers that depend on hardware stand in the machine record, numbers that decide bits beside the
contract they serve: every large or measured constant of the package is one of a few kinds.

Looked at are constants with a name (`NAME = 1 << 20` at a module's top, `#define NAME 4096`) that
are at least `LARGE`, or no whole number, or whose comment speaks of hardware; and such numbers
without a name inside functions, as `path::function 1 << 20`.  `constants.txt` beside this file
gives each its kind:

    hardware   depends on the machine, and is not read from its record yet: a debt
    bits       decides which bits are computed: no machine may change it
    bound      keeps a table, a text or a search finite; any large number would do
    form       is given by a file format, an operating system, Python, NumPy or mathematics
    ratio      has no unit: parts, turns, repetitions, or by how much one figure of a machine has to
               exceed another of the same machine

The record is `fusewright.machine`, with `base/figures.py` for what is the same on all machines.
What is new must be read from it, or be of another kind than `hardware`; what is gone is struck out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = "tools/constants.txt"
KINDS = ("hardware", "bits", "bound", "form", "ratio")
FREE = ("machine/", "base/figures.py", "_core/machine.", "cli/", "rules/decompose/")
"""Where no constant is asked for: the record itself and its copy in the core, what only prints or
measures, coefficients.
"""
MOST_DEBTS = 0
"""Lines of kind `hardware`: may only become fewer."""
LARGE = 1024
HARDWARE = re.compile(
    r"\bcaches?\b|\bcycles?\b|\b(nano|micro|milli|pico)?seconds?\b|\b[umn]s\b|\bmeasured\b|\bKiB\b"
    r"|\bstreams?\b|\bprefetch|\bregisters?\b|\bbandwidth\b|\blaunch(es)?\b|\bthreads?\b|\bvectors?\b|\bprocessors?\b"
)
_SIMPLE = {
    ast.LShift: "<<", ast.Mult: "*", ast.Sub: "-", ast.Add: "+", ast.Pow: "**", ast.FloorDiv: "//",
    ast.Div: "/",
}  # fmt: skip


def number(node: ast.AST) -> float | None:
    """The value of a number written out: `3`, `1 << 20`, `-1`, `5 * 1e-6`."""
    if isinstance(node, ast.Constant):
        value = node.value
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if isinstance(node, ast.BinOp) and type(node.op) in _SIMPLE:
        parts = number(node.left), number(node.right)
        if None not in parts and (parts[1] or 0) < 4096:
            return float(eval(ast.unparse(node)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    return None


def numbers(node: ast.AST) -> list[float]:
    """The numbers of a number or of a tuple of them."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    found = [inner for part in parts for inner in _inner(part)]
    return [] if None in found else [value for value in found if value is not None]


def _inner(node: ast.AST) -> list[float | None]:
    if isinstance(node, ast.Tuple):
        return [value for part in node.elts for value in _inner(part)]
    return [number(node)]


def is_remarkable(values: list[float], said: str) -> bool:
    """Whether constants are large, no whole numbers, or said to be of hardware."""
    if not values:
        return False
    odd = any(abs(value) >= LARGE or value != int(value) for value in values if value < 1e300)
    return odd or HARDWARE.search(said) is not None


def of_python(text: str) -> Iterator[str]:
    """The remarkable constants of a module: names, and numbers in functions."""
    lines = text.splitlines()
    body = ast.parse(text).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            said = lines[(node.end_lineno or node.lineno) - 1].partition("#")[2]
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                said += str(following.value.value)
            yield from _named(node, said)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from (f"{node.name} {spelled}" for spelled in _unnamed(node))


def _named(node: ast.Assign | ast.AnnAssign, said: str) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for name, value in _pairs(target, node.value):
            if not isinstance(name, ast.Name) or not name.id.isupper() or value is None:
                continue
            if is_remarkable(numbers(value), said):
                yield name.id


def _pairs(target: ast.AST, value: ast.AST | None) -> list[tuple[ast.AST, ast.AST | None]]:
    """`A, B = 1, 2` as two assignments."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _unnamed(node: ast.AST) -> Iterator[str]:
    """Sizes as shifts, and short times, inside a function."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.LShift):
            value = number(inner)
            if value is not None and LARGE <= value < 2.0**40:
                yield ast.unparse(inner)
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, float):
            yield from [repr(inner.value)] if 0.0 < abs(inner.value) <= 1e-3 else []


_DEFINED = re.compile(r"^#define (\w+) +(\(?[-\d.][^/\n]*?)\s*(?:/\*(.*?)\*/)?$", re.MULTILINE)
_TABLE = re.compile(
    r"^(?:static )?const (?:int64_t|double|int|Py_ssize_t) (\w+)(?:\[\w*\])? = \{?([^;}]*)\}?;"
    r"(?: */\*(.*?)\*/)?",
    re.MULTILINE,
)
_INLINE = re.compile(r"\b1 << (?:1\d|[23]\d)\b|\b\d+(?:\.\d+)?e-\d+\b")


def of_c(text: str) -> Iterator[str]:
    """The same of a C file."""
    named = [*_DEFINED.finditer(text), *_TABLE.finditer(text)]
    for found in named:
        values = [value for part in found[2].split(",") if (value := _of_text(part)) is not None]
        if is_remarkable(values, found[3] or ""):
            yield found[1]
    rest = re.sub(r"/\*.*?\*/", "", _TABLE.sub("", _DEFINED.sub("", text)), flags=re.DOTALL)
    yield from (f"inline {found[0]}" for found in _INLINE.finditer(rest))


def _of_text(text: str) -> float | None:
    try:
        return number(ast.parse(text.strip().rstrip("ULul") or "x", mode="eval").body)
    except SyntaxError:
        return None


def found_in(root: Path) -> Counter[str]:
    """Every remarkable constant of the package as `path::name`."""
    package = root / "src" / "fusewright"
    names: Counter[str] = Counter()
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.[ch]")]):
        name = path.relative_to(package).as_posix()
        if not name.startswith(FREE):
            find = of_python if path.suffix == ".py" else of_c
            names.update(f"{name}::{each}" for each in find(path.read_text(encoding="utf-8")))
    return names


def listed(root: Path) -> dict[str, str]:
    """The kind of each constant."""
    lines = (root / LIST).read_text(encoding="utf-8").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines]
    return {name: kind for kind, name in pairs}


def complaints(root: Path) -> list[str]:
    """Constants without a kind, kinds without a constant, and more debts than there were."""
    found, kinds = found_in(root), listed(root)
    debts = sum(kind == "hardware" for kind in kinds.values())
    return [
        *(
            f"{name}: read it from fusewright.machine, or give it a kind in {LIST}"
            for name in found
            if name not in kinds
        ),
        *(f"{name}: not there, but in {LIST}" for name in kinds if name not in found),
        *(f"{name}: there is no kind {kind}" for name, kind in kinds.items() if kind not in KINDS),
        *([f"{debts} constants depend on hardware: {MOST_DEBTS} is what tools/constants.py says"]
          if debts != MOST_DEBTS else []),
    ]  # fmt: skip


def main(root: Path = ROOT) -> int:
    """Print every complaint; 1 when there is one."""
    found = complaints(root)
    kinds = Counter(listed(root).values())
    print("\n".join(found) or ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

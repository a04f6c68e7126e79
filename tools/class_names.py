"""Class names are unique in the package: a reader who meets one knows which it is.

Those that were not when this came are in `same_names.txt` beside this file, which may only become
shorter: what is unique now is struck out.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def classes(folder: Path) -> dict[str, list[str]]:
    """The files with a class of each name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(folder).as_posix())
    return found


def complaints(root: Path) -> list[str]:
    """Names that are met twice and not known, or once and known."""
    found = classes(root / "src")
    known = set((root / "tools" / "same_names.txt").read_text(encoding="utf-8").split())
    twice = {name for name, files in found.items() if len(files) > 1}
    return [
        *(f"class {name} is in {', '.join(found[name])}" for name in sorted(twice - known)),
        *(f"{name} is unique: strike it out in tools/same_names.txt" for name in known - twice),
    ]


if __name__ == "__main__":
    sys.exit("\n".join(complaints(ROOT)) or 0)

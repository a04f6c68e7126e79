"""Draw the layers of the package: `python tools/rooms.py` writes docs/architecture.svg; with
`--check` it only compares.

The layers are those that `lint-imports` enforces (`pyproject.toml`), so the picture cannot differ
from the code.
"""

from __future__ import annotations

import re
import sys
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"
PACKAGE = ROOT / "src" / "fusewright"
ROOMS = {
    "bridges": "doors for PyKokkos and others",
    "cli": "fusewright run, explain, ...",
    "numpy": "the drop-in",
    "public": "what import fusewright gives",
    "api": "evaluate, options, explain",
    "inspection": "what ran or would run, as text",
    "replay": "fw.jit: functions recorded once",
    "kernels": "fw.kernel: loops",
    "recurrences": "families of recurrences",
    "integrals": "integrals over Gaussians",
    "driver": "the whole flow, on one page",
    "stages": "the flow's stages, their errors",
    "unfused": "requests without a compiler",
    "told_at_once": "steps NumPy runs at once",
    "verification": "fused and unfused compared",
    "frontends": "record programs",
    "targets": "run kernels",
    "codegen": "nests to LLVM",
    "runtime": "memory, cache, what ran",
    "plan": "which nests become one kernel, where each value lives",
    "analysis": "facts about code",
    "machine": "facts about hardware",
    "rules": "rewrites that keep the value",
    "ir": "dtypes, operations, expressions, graphs, nests",
    "base": "errors, options, spans",
    "_core": "the native core, in C",
}
"""What each room does, in as few words as fit into its box; a foreseen one is drawn once it
exists."""
BANDS = (
    ("doors", "#dbeafe", ("bridges", "cli", "numpy", "public", "api", "inspection")),
    ("programs", "#dcfce7", ("integrals", "replay", "kernels", "recurrences")),
    ("flow", "#fef9c3", ("driver", "stages", "unfused", "told_at_once", "verification")),
    ("record and run", "#ffedd5", ("frontends", "targets", "codegen", "runtime")),
    ("decide", "#fce7f3", ("plan", "analysis", "machine", "rules")),
    ("ground", "#e5e7eb", ("ir", "base", "_core")),
)
"""The colour of each room's box, and what those of one colour are."""
WIDTH, HEIGHT, GAP, LEFT = 760, 44, 8, 130


def layers() -> list[list[str]]:
    """The rooms of each layer that exist, the highest first."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    lines = next(each["layers"] for each in contracts if each["name"] == "Imports go downwards")
    found = [re.findall(r"fusewright\.(\w+)", line) for line in lines]
    return [[room for room in layer if exists(room)] for layer in found]


def exists(room: str) -> bool:
    """Whether a room of the contract is in the package (some are foreseen only)."""
    return (PACKAGE / room / "__init__.py").exists() or (PACKAGE / f"{room}.py").exists()


def picture() -> str:
    """The layers as boxes, each above what it imports."""
    rows = layers()
    height = len(rows) * (HEIGHT + GAP) + 2 * GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + GAP} {height}" '
        'font-family="sans-serif" role="img">',
        "<title>The rooms of Fusewright, each above what it imports</title>",
        f'<rect width="{LEFT + WIDTH + GAP}" height="{height}" fill="white"/>',
    ]
    band = ""
    for number, row in enumerate(rows):
        top = GAP + number * (HEIGHT + GAP)
        name, colour = colour_of(row[0])
        if name != band:
            parts.append(label(GAP, top + 27, name, 'font-size="13" fill="#4b5563"'))
            band = name
        each = (WIDTH - GAP * (len(row) - 1)) // len(row)
        for place, room in enumerate(row):
            parts += box(LEFT + place * (each + GAP), top, each, room, colour)
    return "\n".join([*parts, "</svg>\n"])


def box(left: int, top: int, width: int, room: str, colour: str) -> list[str]:
    """One room: its name, and what it does."""
    middle = left + width // 2
    centred = 'text-anchor="middle"'
    return [
        f'<rect x="{left}" y="{top}" width="{width}" height="{HEIGHT}" rx="5" fill="{colour}" '
        'stroke="#9ca3af"/>',
        label(middle, top + 19, room, f'{centred} font-size="14" font-weight="bold"'),
        label(middle, top + 36, ROOMS[room], f'{centred} font-size="12"'),
    ]


def label(left: int, top: int, text: str, style: str) -> str:
    """A line of text."""
    return f'<text x="{left}" y="{top}" {style}>{escape(text)}</text>'


def colour_of(room: str) -> tuple[str, str]:
    """The band a room belongs to, and its colour."""
    return next((name, colour) for name, colour, rooms in BANDS if room in rooms)


def main(words: list[str]) -> int:
    """Write the picture, or say that it is not that of the layers."""
    fresh = picture()
    if words == ["--check"]:
        if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == fresh:
            return 0
        print("docs/architecture.svg is not that of the layers: run `python tools/rooms.py`")
        return 1
    PICTURE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

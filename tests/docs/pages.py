"""Runs the pages of the guide: their blocks in order, in one process, in an empty folder.

| block | what happens |
|---|---|
| `python` | runs in the page's namespace; under `<!-- file: name.py -->` it becomes that file |
| `console` | each line after `$ ` is run by a shell; what follows it is what it prints |
| `text` straight after `python` | what that block prints |

Under `<!-- shape -->` times, addresses and counts may differ: numbers and runs of blanks count as
alike.  Under `<!-- similar -->` what chance decides may also be other lines: three of five agree.
Other blocks (`sh`, `toml`, ...) are not run.  `python -m tests.docs.pages PAGE ...` writes
what was printed into the pages.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
_MARK = re.compile(r"<!-- (?P<word>file): ?(?P<rest>.*?) ?-->|<!-- (?P<bare>shape|similar) -->")
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?([eE][-+]?\d+)?")
SIMILAR = 0.6
_NAME = re.compile(r"\bk_[0-9a-f]{8}\b")
_UNIT = re.compile(r"# ?(ns|µs|us|ms|s|min|B|kB|KiB|MB|MiB|GB|GiB)\b")
_RULE = re.compile(r"[-─━=]{3,}")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its lines `first` to `last` (counted from 0, fences left out)."""

    language: str
    text: str
    first: int
    last: int
    file: str = ""
    rule: str = "same"


@dataclass(frozen=True, slots=True)
class Printed:
    """What the lines `first` to `last` of a page say was printed, and what was."""

    first: int
    last: int
    said: str
    printed: str
    rule: str

    @property
    def agrees(self) -> bool:
        if self.rule == "same":
            return self.said == self.printed
        said, printed = (shape_of(text).splitlines() for text in (self.said, self.printed))
        if self.rule == "shape":
            return said == printed
        return difflib.SequenceMatcher(None, said, printed).ratio() >= SIMILAR


def shape_of(text: str) -> str:
    """The text with every number as `#` and each run of blanks or rules as one."""
    lines = (
        _RULE.sub("-", _NUMBER.sub("#", _NAME.sub("kernel", line))) for line in text.splitlines()
    )
    return "\n".join(" ".join(_UNIT.sub("# t", line).split()) for line in lines)


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, with the marks in the line above them."""
    found: list[Block] = []
    lines = page.splitlines()
    at = 0
    while at < len(lines):
        fence = re.fullmatch(r"```(\w+)", lines[at])
        if fence is None:
            at += 1
            continue
        end = lines.index("```", at + 1)
        text = "".join(line + "\n" for line in lines[at + 1 : end])
        block = Block(fence[1], text, at + 1, end)
        mark = _MARK.fullmatch(lines[at - 1]) if at else None
        if mark is not None:
            block = replace(block, file=mark["rest"] or "", rule=mark["bare"] or "same")
        found.append(block)
        at = end + 1
    return found


def run_page(path: Path) -> list[Printed]:
    """Run a page in a process and a folder of its own; raises what its process ended with."""
    with tempfile.TemporaryDirectory(prefix="guide-") as folder:
        command = [sys.executable, os.fspath(Path(__file__).resolve()), "--child", os.fspath(path)]
        done = subprocess.run(
            command, cwd=folder, env=_environment(folder), capture_output=True, text=True
        )
    if done.returncode:
        raise AssertionError(f"{path.name} ended with {done.returncode}:\n{done.stderr}")
    return [Printed(**entry) for entry in json.loads(done.stdout.splitlines()[-1])]


def _environment(folder: str) -> dict[str, str]:
    kept = {name: s for name, s in os.environ.items() if not name.startswith("FUSEWRIGHT_")}
    scripts = sysconfig.get_path("scripts")
    return kept | {
        "PATH": f"{scripts}{os.pathsep}{kept.get('PATH', '')}",
        "FUSEWRIGHT_CACHE_DIR": os.path.join(folder, "cache"),
        "FUSEWRIGHT_THREADS": "2",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONPATH": "",
    }


def _run_here(path: Path) -> list[dict[str, object]]:
    """Run the blocks of a page in this process and the current folder."""
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    source = [""] * (blocks[-1].last + 1 if blocks else 0)
    for block in blocks:
        if block.language == "python" and not block.file:
            source[block.first : block.last] = block.text.splitlines()
    script = Path("page.py").resolve()
    script.write_text("\n".join(source) + "\n", encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__", "__file__": os.fspath(script)}
    found: list[dict[str, object]] = []
    sys.path.insert(0, os.getcwd())
    for number, block in enumerate(blocks):
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            printed = _run_python(block, script, names)
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            if after is not None and after.language == "text":
                found.append(_entry(after, printed))
            elif printed:
                raise AssertionError(f"line {block.first}: printed, and not shown:\n{printed}")
        elif block.language == "console":
            found.append(_entry(block, _run_console(block)))
    return found


def _entry(block: Block, printed: str) -> dict[str, object]:
    trimmed = "".join(line.rstrip() + "\n" for line in printed.splitlines())
    return {
        "first": block.first,
        "last": block.last,
        "said": block.text,
        "printed": trimmed,
        "rule": block.rule,
    }


def _run_python(block: Block, script: Path, names: dict[str, object]) -> str:
    text = "\n" * block.first + block.text  # errors name the line of the page
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(text, os.fspath(script), "exec"), names)
    return stream.getvalue().replace(os.fspath(script), script.name)


def _run_console(block: Block) -> str:
    shown = []
    for line in block.text.splitlines():
        if not line.startswith("$ "):
            continue
        done = subprocess.run(
            ["bash", "-c", line[2:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        shown.append(f"{line}\n{done.stdout.replace(os.getcwd() + os.sep, '')}")
    return "".join(shown)


def update(path: Path) -> None:
    """Write what was printed into a page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for entry in reversed(run_page(path)):
        if not entry.agrees or entry.rule == "same":
            lines[entry.first : entry.last] = entry.printed.splitlines()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(_run_here(Path(sys.argv[2]))))
    else:
        for argument in sys.argv[1:]:
            update(Path(argument).resolve())

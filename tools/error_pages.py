"""The pages under `docs/errors/`: `fusewright help FW101` and what the program there prints.

`python -m tools.error_pages --write` rewrites them; without it, what is out of date is listed.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import fusewright as fw
from fusewright.base import traces
from fusewright.cli.error_pages import DECISIONS, PAGES, Page
from fusewright.runtime.decisions import FUSED

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "errors"
NAME = "program.py"
WITHOUT = {
    "FW100": "No program meets it: each error is of a class below, which has a code of its own.",
    "FW112": "No program meets it where code is allowed to run, as it is here.",
    "FW115": "No program meets it whose user owns the folder.",
    "FW305": "A program that meets it counts to a million before it does.",
    "FW900": "A program that meets it is one that we do not know yet.",
}
"""Why a page has no program."""


def printed(program: str) -> tuple[str, str]:
    """The code of the error that a program ends with, and its message."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_text(program)
        os.chdir(folder)
        environment = dict(os.environ)
        try:
            runpy.run_path(os.fspath(path))
        except fw.FusewrightError as error:
            traces.shorten(error, is_own=True)
            # A kernel met before is known by its text, and has the folder it had then.
            text = re.sub(rf"\S+{os.sep}{NAME}", NAME, str(error))
            return error.code, re.sub(r"why: \S+ \S+ of memory", "why: ... of memory", text)
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)
    return "", ""


def decided(code: str, program: str) -> list[str]:
    """What a program prints of decisions with this code, each once."""
    with redirect_stdout(io.StringIO()) as text:
        printed(program)
    lines = (line.strip() for line in text.getvalue().splitlines())
    mark = "fused: " if code == FUSED else f"[{code}]"
    return [line for line in dict.fromkeys(lines) if mark in line]


def decision_text(code: str, page: Page) -> str:
    """The page of a decision in Markdown."""
    parts = [f"# {code}: {page.title}", page.cause, f"**What to do.** {page.mend}"]
    if page.program:
        parts.append(f"```python\n{page.program}```")
        lines = decided(code, page.program)
        parts += [f"```text\n{lines[0]}\n```"] if lines else []
    return "\n\n".join(parts) + "\n"


def page_text(code: str, page: Page) -> str:
    """One page in Markdown."""
    parts = [f"# {code}: {page.title}", page.cause, f"**What to do.** {page.mend}"]
    if page.program:
        parts += [f"```python\n{page.program}```", f"```text\n{printed(page.program)[1]}\n```"]
    else:
        parts.append(WITHOUT[code])
    return "\n\n".join(parts) + "\n"


def index_text() -> str:
    """The list of all codes."""
    rows = [f"| [{code}]({code}.md) | {page.title} |" for code, page in PAGES.items()]
    others = [f"| [{code}]({code}.md) | {page.title} |" for code, page in DECISIONS.items()]
    told = "\n## Decisions\n\nWhy steps and loops fused or not, as reports and `explain` say.\n"
    table = "| code | meaning |\n|---|---|"
    head = "# Errors\n\n`fusewright help FW101` prints the page of a code.\n\n| code | meaning |"
    return "\n".join([head, "|---|---|", *rows, told, table, *others]) + "\n"


def pages() -> dict[str, str]:
    """The text of each file."""
    os.environ["COLUMNS"] = "100"
    texts = {f"{code}.md": page_text(code, page) for code, page in PAGES.items()}
    whys = {f"{code}.md": decision_text(code, page) for code, page in DECISIONS.items()}
    return {"index.md": index_text(), **texts, **whys}


def main(words: list[str]) -> int:
    """Write the pages, or say which are out of date."""
    stale = []
    for name, text in pages().items():
        path = FOLDER / name
        if words == ["--write"]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(name)
    print("\n".join(stale) or f"{len(PAGES) + len(DECISIONS)} pages")
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

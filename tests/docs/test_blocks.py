"""Programs in README and the reference run as they stand, page by page; what prose calls by name
exists and takes those arguments.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import linecache
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import blocks_of

import fusewright as fw
from fusewright.base.options import TABLE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "reference").glob("*.md"))]
EVERY = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS = {"pyscf.md": "pyscf", "torch.md": "torch"}
"""Pages whose programs need an extra."""


def programs(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [block.text for block in blocks_of(text) if block.language == "python"]


@pytest.mark.parametrize("page", [p for p in PAGES if programs(p)], ids=lambda path: path.name)
def test_programs_of_a_page_run(page: Path, tmp_path: Path) -> None:
    if find_spec(NEEDS.get(page.name, "fusewright")) is None:
        pytest.skip(f"{NEEDS[page.name]} is not installed")
    names: dict[str, Any] = {"__name__": "page"}
    for number, text in enumerate(programs(page)):
        file = f"<{page.name}, block {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        with contextlib.chdir(tmp_path), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, file, "exec"), names)


CHECKED = re.compile(r"^(\w+\(.*\))  # (\[.*\])$|^(\w+\(.*\))  # (.+?) is (\S+|\[.*\])$", re.M)


def test_comments_of_the_page_on_kernels_are_what_comes_out() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    checked = 0
    for number, text in enumerate(programs(ROOT / "docs" / "reference" / "kernels.md")):
        file = f"<kernels, block {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), names)
        for call, given, _, name, value in CHECKED.findall(text):
            found = eval(call if call else name, names)
            assert found.tolist() == ast.literal_eval(given or value)
            checked += 1
    assert checked == 4


# ------------------------------------------------------------------------------- calls in the text

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def calls_of(page: Path) -> Iterator[ast.Call]:
    """Calls of `fw.name(...)` with keywords in a page's inline code."""
    fenced = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
    for code in CODE.findall(fenced.sub("", page.read_text(encoding="utf-8"))):
        with contextlib.suppress(SyntaxError):
            tree = ast.parse(re.sub(r"^with (.*?):?$", r"\1", code.strip()).lstrip("@"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and _is_ours(node.func):
                    yield node


SHOWN_AS_WRONG = {"fw.options(thread=1)"}


def _is_ours(function: ast.expr) -> bool:
    owner = function.value if isinstance(function, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id == "fw"


@pytest.mark.parametrize("page", EVERY, ids=lambda path: str(path.relative_to(ROOT)))
def test_calls_in_the_text_are_possible(page: Path) -> None:
    for call in calls_of(page):
        assert isinstance(call.func, ast.Attribute)
        name, written = call.func.attr, ast.unparse(call)
        assert name in fw.__all__, written
        keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
        if written in SHOWN_AS_WRONG:
            continue
        if name == "options":
            assert set(keywords) <= {*TABLE, "name"}, written
        else:
            known = inspect.signature(getattr(fw, name)).parameters
            free = any(p.kind is p.VAR_KEYWORD for p in known.values())
            assert free or set(keywords) <= set(known), written


def test_an_impossible_call_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`@fw.jit(strict=True)` and `with fw.options(thread=1):`\n", encoding="utf-8")
    assert [ast.unparse(call) for call in calls_of(page)] == [
        "fw.jit(strict=True)", "fw.options(thread=1)",
    ]  # fmt: skip


# --------------------------------------------------------------------------- the table of options


def test_the_table_of_options_is_the_options() -> None:
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `([^`]+)` \|", text, re.MULTILINE)
    shown = {
        name: ast.literal_eval(default) for names, default in rows for name in CODE.findall(names)
    }
    with fw.options() as chosen:
        defaults = {name: type(chosen)._field_defaults[name] for name in TABLE}
    assert shown == defaults

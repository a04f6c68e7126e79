"""Links between pages lead to files and headings that exist; pictures are there and small."""

from __future__ import annotations

import re
import runpy
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")]
)
PICTURES = ROOT / "docs" / "guide" / "pictures"
MOST_BYTES = 1_000_000
"""Of all pictures of the guide together."""

_LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
_FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")


def links_of(text: str) -> list[str]:
    """The targets of a page's links, code left out."""
    return _LINK.findall(_CODE.sub("", _FENCED.sub("", text)))


def anchors_of(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ +(.*)$", _FENCED.sub("", text), re.MULTILINE)
    return {_anchor(heading) for heading in headings}


def _anchor(heading: str) -> str:
    words = unicodedata.normalize("NFC", heading).lower().strip()
    return re.sub(r"[^\w\- ]", "", words.replace("`", "")).replace(" ", "-")


def problems(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in links_of(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            found.append(link)
        elif anchor and target.suffix == ".md":
            anchors = anchors_of(target.read_text(encoding="utf-8"))
            found += [] if anchor in anchors else [link]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert not problems(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_by_label_are_not_used(page: Path) -> None:
    """`[a][b]` outside code is a link to a label: the site finds none and is not built."""
    text = _CODE.sub("", _FENCED.sub("", page.read_text(encoding="utf-8")))
    assert re.findall(r"\[[^\]\n]*\] ?\[[^\]\n]*\]", text) == []


def test_a_link_to_nowhere_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](b.md) [b](#one) [c](#two) `[d](e.md)`\n", encoding="utf-8")
    assert problems(page) == ["b.md", "#two"]


def test_pictures_are_small_and_used() -> None:
    files = sorted(PICTURES.iterdir())
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    text = "".join(path.read_text(encoding="utf-8") for path in PICTURES.parent.glob("*.md"))
    assert [path.name for path in files if f"pictures/{path.name}" not in text] == []


def test_drawn_pictures_are_those_the_script_draws() -> None:
    names = runpy.run_path(str(ROOT / "tools" / "guide_pictures.py"))
    for name in ("passes", "laziness", "fused"):
        assert names[name]() == (PICTURES / f"{name}.svg").read_text(encoding="utf-8"), name


_NAMED = re.compile(r"\b(?:src|tests|tools|benchmarks|examples)/[\w/]+\.(?:py|c|h|json|txt|md)\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """Or a worked change of CONTRIBUTING.md brings them."""
    patches = "".join(patch.read_text() for patch in (ROOT / "docs/contributing").glob("*.patch"))
    named = set(_NAMED.findall(page.read_text(encoding="utf-8")))
    assert [n for n in named if not (ROOT / n).exists() and f"+++ b/{n}\n" not in patches] == []

"""What the page, the explanation and the totals say, on made-up profiles."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli import profiles

from fusewright.base.words import seconds, size
from fusewright.cli.compare import compare
from fusewright.cli.console import make_console
from fusewright.cli.explain import print_summary
from fusewright.cli.report import Story, render, shares
from fusewright.cli.summary import summarise
from fusewright.cli.timeline import LANE, WIDTH, draw
from fusewright.ir.library_steps import ON_PURPOSE
from fusewright.runtime.profile import Flush, OpaqueRecord, Operation, Profile

VOID = {"meta", "line", "rect", "input", "br", "link", "img"}


class Page(HTMLParser):
    """Elements in order, ids, links, and the text; fails on tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag not in VOID:
            self.open.append(tag)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID - {"line", "rect"}:
            raise AssertionError(f"</{tag}>")
        if tag in VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def count(self, tag: str, **attributes: str) -> int:
        return sum(
            t == tag and all(found.get(k.rstrip("_")) == v for k, v in attributes.items())
            for t, found in self.tags
        )


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "user & co.py"
    path.write_text("import numpy as np\nx = np.ones(3) < 2\nprint(x)\n")
    return str(path)


def test_page_of_one_flush(source: str) -> None:
    page = Page(render(profiles.small(source), Story("p.py --n 3", 0.05)))
    assert page.count("details", class_="kernel") == 2
    assert "p.py --n 3" in page.text
    assert "sum after <add>" in page.text
    assert "LAPACK has it; it is not compiled" in page.text
    assert "9.00 MB" in page.text and "54.0 MB" in page.text and "13.5 MB" in page.text
    assert "out[i] = sqrt(t1) <= 1.0" in page.text
    assert "define void @kernel" in page.text
    assert {"register", "memory", "input"} <= {
        str(a.get("class")).removeprefix("place ") for t, a in page.tags if t == "span"
    }
    assert "1 library step not compiled" in page.text


def test_every_link_has_a_target_and_every_id_is_one(source: str) -> None:
    for profile in (profiles.small(source), profiles.large(source)):
        page = Page(render(profile, Story("p", 6.0)))
        assert len(page.ids) == len(set(page.ids))
        assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
        assert page.links
    assert "#FW409" in Page(render(profiles.small(source), Story("p", 6.0))).links


def test_source_is_marked(source: str) -> None:
    page = Page(render(profiles.small(source), Story("p", 0.05)))
    rows = [a for t, a in page.tags if t == "tr" and str(a.get("id", "")).startswith("line-")]
    assert [a.get("class") for a in rows] == [None, "opaque", "memory"]
    assert "np . ones" in page.text


def test_page_is_self_contained(source: str) -> None:
    html = render(profiles.large(source), Story("p", 6.0))
    assert not re.search(r"(src|href)=\"(?!#)", html)
    assert "@import" not in html and "url(" not in html and "<script" not in html


def test_equal_kernels_are_shown_once(source: str) -> None:
    html = render(profiles.large(source, 500), Story("p", 6.0))
    page = Page(html)
    # The first five runs and the rest are the same two kernels.
    assert page.count("details", class_="kernel") == 2
    assert "in 500 runs" in page.text
    assert "501 flushes" in page.text
    assert len(html) < 400_000


def test_comparison_and_error(source: str) -> None:
    ones = np.ones(3)
    rows = (compare("good", ones, ones), compare("bad", ones + 1, ones))
    story = Story("p", 9.0, "ValueError: <b>x</b>", 5.0, 2.0, False, rows)
    page = Page(render(profiles.small(source), story))
    assert "ended early: ValueError: <b>x</b>" in page.text
    assert "3 of 3 elements differ" in page.text and "identical" in page.text
    assert "results differ from NumPy" in page.text
    assert "2.5×" in page.text


def test_page_of_nothing() -> None:
    page = Page(render(Profile(), Story("p.py", 0.1)))
    assert "Nothing was evaluated" in page.text


def test_missing_source(tmp_path: Path) -> None:
    page = Page(render(profiles.small(str(tmp_path / "gone.py")), Story("p", 1.0)))
    assert "cannot be read" in page.text


@pytest.mark.parametrize("flushes", [1, 3, 299, 301, 2000])
def test_timeline_stays_inside_and_keeps_the_time(flushes: int) -> None:
    profile = profiles.large("p.py", flushes)
    summary = summarise(profile)
    styles = {k.label: k.label for k in summary.kernels} | {o.label: "L" for o in summary.opaque}
    drawn = draw(profile, summary.labels, styles)
    assert drawn is not None
    for bar in (*drawn.steps, *drawn.flushes):
        assert bar.x >= -1e-6
        assert bar.x + bar.width <= WIDTH + 1
        assert bar.y >= 0 and bar.y + bar.height <= 2 * LANE
    assert len(drawn.steps) <= 1000
    if drawn.columns:
        shown = sum(b.height for b in drawn.steps if b.style == "K1") / (LANE - 6)
        expected = summary.kernels[0].seconds / drawn.span * 250
        assert shown == pytest.approx(expected, rel=1e-6)


def test_shares_make_the_whole() -> None:
    summary = summarise(profiles.large("p.py"))
    parts = shares(summary, 6.1)
    assert sum(part.percent for part in parts) == pytest.approx(100)
    assert sum(part.seconds for part in parts) == pytest.approx(6.1)


def test_summary_counts() -> None:
    summary = summarise(profiles.large("p.py", 500))
    assert [k.runs for k in summary.kernels] == [500, 500]
    assert summary.kernels[0].bytes_read == 500 * 9_000_000
    assert summary.kernels[0].origins == (("compiled", 5), ("memory", 495))
    assert [f.runs for f in summary.flushes] == [500, 1]
    assert summary.opaque_runs == 501
    assert summary.blocked[0].runs == 1000
    assert summary.operations == 500 * 2 + 500 * 1


def _printed(profile: Profile) -> str:
    stream = io.StringIO()
    print_summary(summarise(profile), make_console(stream))
    return stream.getvalue()


def test_explanation() -> None:
    text = _printed(profiles.small("p.py"))
    for words in (
        "flush 1: float() at p.py:3",
        "K1 kernel k_3fa2",
        "fused: multiply into add: saves 9.4 MB",
        "not fused: sum after <add>: a reduction over both dims [FW409] (p.py:3)",
        "numpy: linalg.solve at p.py:2",
        "not compiled: LAPACK has it",
        "saved 40.5 MB (4.0x)",
        "opregister",
        "766 x 766",
        "memory moved 27.0 MB",
    ):
        assert words in text, words
    assert "\x1b" not in text, "no colours where it is not a terminal"


def test_long_explanation_is_short() -> None:
    text = _printed(profiles.large("p.py", 500))
    assert ", 500 times" in text
    assert len(text.splitlines()) < 60


def test_units() -> None:
    assert [seconds(v) for v in (0, 2.5, 0.0123, 7e-6, 123.4)] == [
        "0 s", "2.50 s", "12.3 ms", "7.00 us", "123 s",
    ]  # fmt: skip
    assert [size(v) for v in (0, 999, 4096, 2.5e9, 1.5e13)] == [
        "0 B", "999 B", "4.10 kB", "2.50 GB", "15.0 TB",
    ]  # fmt: skip


def test_library_steps_as_documented_are_no_failure(source: str) -> None:
    """Only what could have been compiled is told as not compiled."""
    profile = profiles.small(source)
    (flush,) = profile.flushes
    step = flush.steps[1]
    assert isinstance(step, OpaqueRecord)
    flush.steps[1] = step._replace(why=ON_PURPOSE)
    assert "not compiled" not in Page(render(profile, Story("p.py", 0.05))).text.replace(
        "it is not compiled", ""
    )


def test_a_program_of_loops_alone(source: str) -> None:
    """It has no array operations, and nothing is unfused; what repeats is shown once."""
    flush = Flush("print", None, 0.0, 0.03)
    loop = Operation("for i in range(n)", "", (), "in order", profiles.line(source, 2), "it sums")
    made = profiles.kernel(0.001, source, (2,))
    step = replace(made, kind="loops", operations=(loop,), decisions=())
    flush.steps += [step] * 20
    page = Page(render(Profile([flush]), Story("p.py", 0.05)))
    assert "Kernel runs 20 of 1 kernel" in page.text
    assert "Array operations" not in page.text and "one operation at a time" not in page.text
    assert "K1 × 20" in page.text

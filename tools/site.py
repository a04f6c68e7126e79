"""What MkDocs is told beyond `mkdocs.yml`: pages from outside `docs/`, navigation, links.

The pages are read on a code host too, so they link to files of the repository.  In the site such a
link leads to the page made of that file; where there is none, its words stay.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
SOURCES = {"index.md": "README.md", "changes.md": "CHANGELOG.md", "working.md": "CONTRIBUTING.md"}
"""Pages of the site made of files outside `docs/`; results of benchmarks are added to these."""

FOLDERS = {
    "docs/decisions": "decisions/index.md",
    "benchmarks/results": "results/index.md",
    "examples": "examples.md",
    "docs": "index.md",
}
"""Where a link to a folder leads."""

REFERENCE = ("api", "python", "cli", "kernels", "legality", "numpy", "pykokkos")
"""The first pages of the reference, in this order; the others follow by name."""
_LINK = re.compile(r"(?P<bang>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^()\s]+)\)")
_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Navigation: guide, reference, results, decisions, errors."""
    SOURCES.update({f"results/{p.name}": f"benchmarks/results/{p.name}" for p in _results()})
    others = sorted({path.stem for path in (ROOT / "docs/reference").glob("*.md")} - {*REFERENCE})
    reference = [f"reference/{name}.md" for name in (*REFERENCE, *others)]
    config.nav = [
        {"Home": "index.md"},
        {"Guide": [*_pages("guide", "index"), "guide/faq.md", "guide/glossary.md"]},
        {"Reference": [*reference, "numerics.md", "examples.md"]},
        {"Errors": _pages("errors", "index")},
        {"Results": ["results/index.md", *(f"results/{p.name}" for p in _results())]},
        {"Inside": ["architecture.md", "working.md", "changes.md"]},
        {"Decisions": ["decisions/index.md", *_pages("decisions")]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages made of files outside `docs/`, the lists, and the examples."""
    made = {name: (ROOT / source).read_text(encoding="utf-8") for name, source in SOURCES.items()}
    made["decisions/index.md"] = _list("Decisions", (ROOT / "docs/decisions").glob("*.md"))
    made["results/index.md"] = _list("Results of benchmarks", _results())
    made["examples.md"] = _examples()
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for path in (ROOT / "benchmarks/results").glob("*.svg"):
        files.append(File.generated(config, f"results/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Turn links to files of the repository into links to pages; code stays as it is."""
    where = page.file.src_uri
    source = SOURCES.get(where, f"docs/{where}")
    parts = _FENCED.split(markdown)
    # Every second part is a fenced block.
    parts[::2] = [_LINK.sub(lambda found: _link(found, source, where), text) for text in parts[::2]]
    return "".join(parts)


def _link(found: re.Match[str], source: str, where: str) -> str:
    target, _, anchor = found["target"].partition("#")
    if (
        not target
        or re.match(r"[a-z]+:", target)
        or (source == f"docs/{where}" and target == where)
    ):
        return found[0]
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    name = _site_name(file)
    if name is None:
        return found["words"]
    path = posixpath.relpath(name, posixpath.dirname(where) or ".")
    return f"{found['bang']}[{found['words']}]({path}{'#' if anchor else ''}{anchor})"


def _site_name(file: str) -> str | None:
    """The page, or the picture, that a file of the repository becomes."""
    if file in FOLDERS:
        return FOLDERS[file]
    if file.startswith("benchmarks/results/") and file.endswith(".svg"):
        return file.removeprefix("benchmarks/")
    pages = {source: name for name, source in SOURCES.items()}
    inside = file.removeprefix("docs/") if file.startswith("docs/") else None
    return pages.get(file, inside)


def _results() -> list[Path]:
    return sorted((ROOT / "benchmarks/results").glob("*.md"))


def _pages(folder: str, first: str = "") -> list[str]:
    """The pages of a folder by name, `first` before all others, pages named by words left out."""
    names = sorted(path.stem for path in (ROOT / "docs" / folder).glob("*.md"))
    numbered = [name for name in names if re.search(r"\d", name)]
    return [f"{folder}/{name}.md" for name in ([first] if first else []) + numbered]


def _list(title: str, paths: Any) -> str:
    """A page with a link to each of some pages, by their own titles."""
    rows = [f"* [{_title(path)}]({path.name})" for path in sorted(paths)]
    return f"# {title}\n\n" + "\n".join(rows) + "\n"


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def _examples() -> str:
    """All examples, one after the other."""
    parts = ["# Examples\n"]
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts.append(f"## {path.stem}\n\n```python\n{text}```\n")
    return "\n".join(parts)

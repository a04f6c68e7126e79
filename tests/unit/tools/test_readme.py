"""The README's two commands are one line each, and `.ci/run` runs the one a user is told."""

from __future__ import annotations

import re
import runpy
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _command(name: str) -> str:
    (block,) = re.findall(rf"<!-- {name} -->\n```sh\n(.*?)```\n<!-- end -->", README, re.DOTALL)
    lines = block.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


def test_the_demo_command() -> None:
    assert _command("demo-command").endswith("fusewright demo")


def test_the_test_command() -> None:
    command = _command("test-command")
    assert '".[test]"' in command
    assert command.endswith("-m pytest -n 2")


def test_ci_reads_the_same_line() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (reading,) = re.findall(r"^test_command=\$\((.*)\)$", script, re.MULTILINE)
    found = subprocess.run(["bash", "-c", reading], cwd=ROOT, capture_output=True, text=True)
    assert found.stdout.strip() == _command("test-command")


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    for page in pages:
        for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.relative_to(ROOT)}: {link}"


RELATIVE = re.compile(r"\]\((?!https?:|#)")
description: Any = runpy.run_path(str(ROOT / "setup.py"), run_name="imported")["description"]


@pytest.mark.parametrize("urls", [{}, {"Repository": "https://example.org/us/it/"}])
def test_links_lead_somewhere_from_a_package_index(urls: dict[str, str]) -> None:
    assert RELATIVE.search(README)
    made = description(README, {"name": "fusewright", "urls": urls})
    assert not RELATIVE.search(made)
    page = "https://example.org/us/it/blob/HEAD/docs/reference/cli.md"
    words = "the command line in full"
    assert (f"[{words}]({page})" if urls else f"; {words}.") in made
    assert made.count("```") == README.count("```")


def test_the_installed_description_has_no_other_links() -> None:
    made = metadata.metadata("fusewright")
    assert made["Description-Content-Type"] == "text/markdown"
    text = made.get_payload() or made["Description"]
    assert "Write small array steps" in text
    assert not RELATIVE.search(text)

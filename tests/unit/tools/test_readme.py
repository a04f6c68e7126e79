"""The README's two commands are one line each, and `.ci/run` runs the one a user is told."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

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

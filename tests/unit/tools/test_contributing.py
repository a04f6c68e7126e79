"""The worked changes of CONTRIBUTING.md: each patch applies to a copy of the tree, and its tests
pass there; the recipe names each file they touch.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PATCHES = ROOT / "docs" / "contributing"
COPIED = ("src", "tests", "tools", "docs", "pyproject.toml", "README.md")
CHANGES: dict[str, tuple[str, ...]] = {
    "operation": (
        "tests/unit/rules/test_decompose_bounds.py",
        "tests/targets/test_elementwise.py",
        "tests/unit/kernels/test_special.py",
        "tests/unit/tools/test_coverage.py",
        "-k",
        "expit or logistic or every_public_name or rest_of_the_page or shown_the_way",
    ),
    "pass": ("tests/unit/kernels/test_idle.py",),
}
"""What pytest is given for each patch."""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in the copied tree, with the copied package and a cache of its own."""
    chosen = {"PYTHONPATH": str(folder / "src"), "FUSEWRIGHT_CACHE_DIR": str(folder / "cache")}
    environment = {**os.environ, **chosen}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the patches touch and their tests need, in a repository of its own."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
            shutil.copytree(source, tmp_path / name, ignore=ignored)
        else:
            shutil.copy2(source, tmp_path / name)
    assert run(tmp_path, "git", "init", "-q").returncode == 0
    return tmp_path


@pytest.mark.parametrize("change", CHANGES)
def test_the_patch_applies_and_its_tests_pass(change: str, tree: Path) -> None:
    applied = run(tree, "git", "apply", str(PATCHES / f"{change}.patch"))
    assert applied.returncode == 0, applied.stderr
    options = ("-q", "-p", "no:xdist", "-p", "no:cacheprovider")
    tested = run(tree, sys.executable, "-m", "pytest", *options, *CHANGES[change])
    assert tested.returncode == 0, tested.stdout[-4000:]
    assert re.search(r"\b[1-9]\d* passed", tested.stdout)
    where = run(tree, sys.executable, "-c", "import fusewright; print(fusewright.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(tree)  # and not of the tree beside
    stubs = run(tree, sys.executable, "tools/make_stubs.py", "--check")
    assert stubs.returncode == 0, stubs.stdout + stubs.stderr
    sizes = run(tree, sys.executable, "tools/sizes.py")
    assert sizes.returncode == 0, sizes.stdout
    linted = run(tree, sys.executable, "-m", "ruff", "check", "src", "tests")
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize("change", CHANGES)
def test_every_touched_file_is_named(change: str) -> None:
    """The recipe says why each file of the patch is touched."""
    patch = (PATCHES / f"{change}.patch").read_text(encoding="utf-8")
    recipe = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    touched = re.findall(r"^\+\+\+ b/(?:src/fusewright/)?(\S+)", patch, re.MULTILINE)
    assert touched
    assert not [name for name in touched if f"`{name}`" not in recipe and f"({name})" not in recipe]

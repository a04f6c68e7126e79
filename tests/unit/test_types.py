"""What type checkers, `dir` and `help` know of the package."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import numpy
import pytest
from tools import make_stubs

import fusewright as fw
from fusewright.base import options

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "types"


def test_stubs_are_what_the_tool_writes() -> None:
    if make_stubs.version_written() != make_stubs.VERSION:
        pytest.skip(f"the stubs are of another NumPy than {numpy.__version__}")
    for path, text in make_stubs.stubs().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run tools/make_stubs.py"


@pytest.mark.parametrize("name", ["", *make_stubs.OWN_MODULES])
def test_every_public_name_is_there(name: str) -> None:
    module = importlib.import_module(f"fusewright.numpy{'.' if name else ''}{name}")
    assert [each for each in module.__all__ if not hasattr(module, each)] == []


def test_dir_lists_what_is_public() -> None:
    assert dir(fw) == fw.__all__ == sorted(fw.__all__)
    assert [name for name in fw.__all__ if not hasattr(fw, name)] == []


@pytest.mark.parametrize("name", ["", *make_stubs.OWN_MODULES])
def test_dir_of_the_drop_in_lists_what_is_public(name: str) -> None:
    module = importlib.import_module(f"fusewright.numpy{'.' if name else ''}{name}")
    listed = dir(module)
    assert set(module.__all__) <= set(listed)
    others = set(listed) - set(module.__all__)
    assert [each for each in others if not re.fullmatch(r"__\w+__", each)] == []


def test_settings_as_keywords_are_the_settings() -> None:
    kinds = get_type_hints(options.Settings)
    assert list(kinds) == list(options.Options._fields) == list(options.TABLE)
    for name, kind in kinds.items():
        for choice in get_args(kind):
            if isinstance(choice, str):
                assert options.TABLE[name].valid(choice)
        valid = options.TABLE[name].valid
        assert valid(None) == (type(None) in get_args(kind)), name
        assert valid("no such value") == (str in get_args(kind)), name


NOT_OURS = {"__version__", "max", "min", "numpy"}
"""A string, Python's own, and a module."""
NEVER_RAISE = {"InternalError", "cache_clear", "cache_info", "grouped", "info", "lazy"} | {
    "FusewrightError", "nofuse", "vector",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(fw.__all__) - NOT_OURS))
def test_examples_of_help_run(name: str) -> None:
    """Each public name has an example as a program writes it, and says what it raises."""
    text = inspect.getdoc(getattr(fw, name)) or ""
    found = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert found.examples and found.examples[0].source.startswith("import ")
    assert ("\nRaises:\n" in text) == (name not in NEVER_RAISE)
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    outcome = doctest.DocTestRunner(optionflags=flags).run(found)
    assert outcome.failed == 0


def test_help_of_every_attribute_of_arrays_says_something() -> None:
    public = [name for name in dir(fw.Array) if not name.startswith("_")]
    assert [name for name in public if not inspect.getdoc(getattr(fw.Array, name))] == []
    assert "over the given axis" in (inspect.getdoc(fw.Array.sum) or "")


def test_help_of_options_lists_them() -> None:
    text = inspect.getdoc(fw.options) or ""
    for name, row in options.TABLE.items():
        allowed = row.allowed.partition(" (")[0]
        default = options.Options._field_defaults[name]
        assert f"{name} = {default!r} ({allowed}):\n    {row.meaning}" in text
    assert max(map(len, text.splitlines())) < 120


def test_help_of_the_package_names_all_that_it_has() -> None:
    named = set(re.findall(r"`(?:fw\.)?(\w+)`", fw.__doc__ or ""))
    assert set(fw.__all__) <= named


STRICT = ("--strict", "--no-warn-return-any", "--no-warn-unused-ignores")
"""NumPy's results are often Any; what our own files ignore is not looked at here."""


def _mypy(*arguments: str) -> tuple[str, int]:
    command = [sys.executable, "-m", "mypy", *STRICT, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout, done.returncode


def _unreported(checker: str, output: str) -> list[str]:
    """The lines of `wrong.py` that a checker passed over, or reports for another reason."""
    reported: dict[int, str] = {}
    for line in output.splitlines():
        found = re.search(r"wrong\.py:(\d+)(?::\d+)?(?: -|:) error:? (.*)", line)
        if found:
            number = int(found[1])
            reported[number] = reported.get(number, "") + found[2]
    lines = (FOLDER / "wrong.py").read_text(encoding="utf-8").splitlines()
    wanted = {
        i: line.split("# error: ")[1] for i, line in enumerate(lines, 1) if "# error: " in line
    }
    passed_over = [f"line {i}: {checker} says nothing" for i in sorted(wanted - reported.keys())]
    return passed_over + [f"line {i}: {reported[i]}" for i in sorted(reported.keys() - wanted)]


def test_mypy_finds_the_mistakes() -> None:
    output, code = _mypy(str(FOLDER / "wrong.py"))
    assert code == 1
    assert _unreported("mypy", output) == []


def test_mypy_takes_the_examples() -> None:
    examples = sorted(path for path in (ROOT / "examples").glob("*.py"))
    typed = [path for path in examples if "pykokkos" not in path.name]  # its types are values
    output, code = _mypy(str(FOLDER / "right.py"), *map(str, typed))
    assert code == 0, output


PYRIGHT = shutil.which("pyright", path=str(Path(sys.executable).parent))


@pytest.mark.skipif(PYRIGHT is None, reason="pyright is not installed")
def test_pyright_takes_the_examples_and_finds_the_mistakes() -> None:
    assert PYRIGHT is not None
    done = subprocess.run([PYRIGHT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    command = [PYRIGHT, str(FOLDER / "wrong.py"), str(FOLDER / "right.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert _unreported("pyright", done.stdout) == []
    assert "right.py:" not in done.stdout

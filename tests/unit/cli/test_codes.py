"""Codes of errors: each class has one of its own, a page, and a program that meets it."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fusewright
import fusewright as fw
import fusewright.numpy as fnp
from fusewright.base.errors import FusewrightError, InternalError
from fusewright.base.options import TABLE
from fusewright.cli import help, parsing
from fusewright.cli.error_pages import DECISIONS, PAGES
from fusewright.frontends.kernels import spelling
from fusewright.runtime.decisions import FUSED, UNNAMED

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
error_pages = importlib.import_module("error_pages")


def classes() -> list[type]:
    """All of ours, wherever they are defined."""
    for module in pkgutil.walk_packages(fusewright.__path__, "fusewright."):
        if ".demo." in module.name:
            continue  # a program, which reads the arguments of this process
        if any(part in module.name for part in (".cli.", ".targets.", ".base.", ".kernels.")):
            importlib.import_module(module.name)
    found: list[type] = [FusewrightError]
    for kind in found:
        found += kind.__subclasses__()
    return [k for k in found if k.__module__.startswith("fusewright.")] + [InternalError]


def test_each_class_has_a_code_of_its_own_or_its_parents() -> None:
    own = [kind.__dict__["code"] for kind in classes() if "code" in kind.__dict__]
    assert len(own) == len(set(own))
    assert set(own) == set(PAGES)
    without = {kind.__name__ for kind in classes() if "code" not in kind.__dict__}
    assert without == {"Overlap"}  # a form of `KernelAliasError`


@pytest.mark.parametrize("code", [code for code, page in PAGES.items() if page.program])
def test_the_program_of_a_page_meets_its_error(code: str) -> None:
    assert error_pages.printed(PAGES[code].program)[0] == code


def test_pages_without_a_program_say_why() -> None:
    assert {code for code, page in PAGES.items() if not page.program} == error_pages.WITHOUT.keys()
    without = {code for code, page in DECISIONS.items() if not page.program}
    assert without == {UNNAMED}


@pytest.mark.parametrize("code", [code for code, page in DECISIONS.items() if page.program])
def test_the_program_of_a_page_meets_its_decision(code: str) -> None:
    program = DECISIONS[code].program
    if code == FUSED:
        program += "assert 'FW4' not in str(fw.explain(x / x.sum(axis=1, keepdims=True)))\n"
        assert error_pages.printed(program) == ("", "")
        return
    assert error_pages.decided(code, program) != []


def test_the_pages_in_docs_are_these() -> None:
    """`python tools/error_pages.py --write` rewrites them."""
    folder = ROOT / "docs" / "errors"
    assert {path.name: path.read_text() for path in folder.iterdir()} == error_pages.pages()


def test_help_knows_every_topic() -> None:
    for topic in [
        *parsing.COMMANDS,
        *PAGES,
        *DECISIONS,
        *TABLE,
        "options",
        "fw101",
        "FUSEWRIGHT_FUSE",
        "",
        "fw",
        "np",
        *fw.__all__,
        *fnp.__all__,
        *(f"special.{name}" for name in fnp.special.__all__),
        *fnp.special.__all__,
        *(f"linalg.{name}" for name in fnp.linalg.__all__),
    ]:
        assert len(help.about(topic)) > 9, topic
    with pytest.raises(parsing.UsageError, match="did you mean FW"):
        help.about("FW1O1")


PROGRAM = """
import fusewright.numpy as np
def deep():
    return np.ones((3000, 4)) + np.ones((2000, 4))
deep()
"""


@pytest.mark.parametrize("words", [[], ["-m", "fusewright", "run"]])
@pytest.mark.parametrize("debug", ["0", "1"])
def test_tracebacks_end_at_the_users_line(tmp_path: Path, words: list[str], debug: str) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    environment = {**os.environ, "FUSEWRIGHT_DEBUG": debug}
    done = subprocess.run(
        [sys.executable, *words, "p.py"], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    files = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    ours = [line for line in files if "p.py" not in line]
    assert done.returncode == 1 and "ShapeError" in done.stderr
    assert len(files) - len(ours) == 2 and bool(ours) == (debug == "1")


@pytest.mark.parametrize(
    "line", ["np.sinn(np.ones(4))", "np.apply_along_axis(lambda r: 1 // 0, 0, a)"]
)
@pytest.mark.parametrize("debug", ["0", "1"])
def test_errors_that_came_through_our_frames_name_none(
    tmp_path: Path, line: str, debug: str
) -> None:
    """The user's frames and NumPy's are shown, as without us."""
    (tmp_path / "p.py").write_text(f"import numpy as np\na = np.ones((3000, 4))\n{line}\n")
    environment = {**os.environ, "FUSEWRIGHT_DEBUG": debug}
    done = subprocess.run(
        [sys.executable, "-m", "fusewright", "run", "p.py"], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    files = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    ours = [line for line in files if f"{os.sep}fusewright{os.sep}" in line]
    assert done.returncode == 1 and "p.py" in files[0] and len(files) > len(ours) + 1
    assert bool(ours) == (debug == "1")


SESSION = """
import sys, traceback, types

class Shell:
    custom_exceptions = ()
    def set_custom_exc(self, kinds, handler):
        self.kinds, self.handler = kinds, handler
    def showtraceback(self, told, tb_offset=None, running_compiled_code=False):
        traceback.print_exception(*told)

shell = Shell()
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
import fusewright.numpy as np
try:
    np.ones((3000, 4)) + np.ones((2000, 4))
except shell.kinds:
    shell.handler(shell, *sys.exc_info(), tb_offset=1)
"""


@pytest.mark.parametrize("debug", ["0", "1"])
def test_tracebacks_in_a_notebook_end_at_the_users_line(tmp_path: Path, debug: str) -> None:
    (tmp_path / "p.py").write_text(SESSION)
    environment = {**os.environ, "FUSEWRIGHT_DEBUG": debug}
    done = subprocess.run(
        [sys.executable, "p.py"], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    files = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert "ShapeError" in done.stderr and "p.py" in files[0]
    assert (len(files) > 1) == (debug == "1")


def test_every_piece_of_syntax_has_a_name() -> None:
    """No error speaks of `JoinedStr`."""
    for kind in [*ast.stmt.__subclasses__(), *ast.expr.__subclasses__()]:
        if kind.__module__ in ("ast", "_ast") and kind.__name__ not in ("Num", "Str", "Bytes"):
            assert kind.__name__ in spelling.NAMES, kind


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("fw.kernel", "fw.kernel("),
        ("kernel", "fw.kernel(function: Any = None,"),
        ("np.roll", "np.roll("),
        ("roll", "np.roll("),
        ("numpy.linalg.solve", "solve("),
        ("linalg.solve", "np.linalg.solve("),
        ("gamma", "np.special.gamma("),
    ],
)
def test_help_on_names(topic: str, words: str) -> None:
    """What a newcomer asks the command line about first: the names in the program."""
    text = help.about(topic)
    assert words in text.splitlines()[0] and len(text.splitlines()) > 3


@pytest.mark.parametrize(
    ("topic", "meant"),
    [
        ("np.rol", "did you mean"),
        ("fw.kernal", "did you mean kernel?"),
        ("kernal", "did you mean kernel?"),
        ("medain", "did you mean median?"),
        ("rnu", "did you mean run?"),
        ("fw.zzz", "lists the names"),
    ],
)
def test_help_on_names_that_do_not_exist(topic: str, meant: str) -> None:
    with pytest.raises(parsing.UsageError, match=re.escape(meant)):
        help.about(topic)


def test_a_name_in_two_modules_is_told_of_both() -> None:
    assert "`fusewright help np.random`" in help.about("random").splitlines()[-1]


def test_each_command_says_what_it_does_itself() -> None:
    """In a sentence of its own; options that it refuses are not in its list."""
    said = {name: parsing.parser_of(name).description or "" for name in parsing.COMMANDS}
    said |= parsing.DESCRIPTIONS
    assert len({*said.values()}) == len(said) and all(said.values())
    for command in parsing.DESCRIPTIONS:
        listed = re.findall(r"^ +(--[a-z]+)", help.about(command), re.MULTILINE)
        for option in {"--plain", "--explain", "--compare", "--report"} & {*listed}:
            value = ["p.html"] if option == "--report" else []
            parsing.request(command, [option, *value, __file__])

"""An option of ours behind the program's name is the program's; who meant ours is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fusewright.cli import hints, parsing

Run = Callable[..., tuple[int, str, str]]
SHOWS = "import sys\nprint(sys.argv[1:])\n"
TOLD = "options of Fusewright stand before its name: fusewright "


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("p.py").write_text(SHOWS)


def test_the_options_are_those_of_the_parser() -> None:
    known = {
        name
        for command in ("run", parsing.WARM)
        for name in parsing.run_parser(command)._option_string_actions
        if name.startswith("--")
    }
    assert known - {"--help", "--strict-all", "--no-explain"} == hints.OPTIONS


@pytest.mark.parametrize(
    "words",
    [["--threads", "2"], ["--html", "x.html"], ["--save", "there"], ["--strict=all"], ["--plain"]],
)
def test_told_after_the_run(run: Run, words: list[str]) -> None:
    code, out, err = run("p.py", *words)
    assert (code, out) == (0, f"{words}\n")
    assert err == (
        f"fusewright: {words[0]} went to the program, which does not mention it; "
        f"{TOLD}run {words[0]} ... p.py\n"
    )
    assert not Path("there").exists() and not Path("x.html").exists()


def test_the_command_is_the_users(run: Run) -> None:
    _, _, err = run("--threads", "1", "p.py", "--explain", "--full")
    assert "--explain, --full went to the program, which does not mention them" in err
    assert f"{TOLD}run --explain ... p.py" in err


@pytest.mark.parametrize("words", [[], ["-v", "x"], ["--theirs"], ["threads"], ["--", "2"]])
def test_nothing_to_say(run: Run, words: list[str]) -> None:
    code, out, err = run("p.py", *words)
    assert (code, out, err) == (0, f"{words}\n", "")


def test_a_program_with_such_an_option(run: Run) -> None:
    Path("p.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--threads', type=int)\nprint(parser.parse_args())\n"
    )
    assert run("p.py", "--threads", "2") == (0, "Namespace(threads=2)\n", "")


def test_another_module_of_the_program_reads_it(run: Run) -> None:
    Path("p.py").write_text("import words_of_p\nprint(words_of_p.found)\n")
    Path("words_of_p.py").write_text("import sys\nfound = '--report' in sys.argv\n")
    assert run("p.py", "--report") == (0, "True\n", "")


def test_options_made_of_names(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("p.py").write_text("import fire\n" + SHOWS)
    Path("fire.py").write_text("")
    code, _, err = run("p.py", "--threads", "2")
    assert (code, err) == (0, "")
    monkeypatch.delitem(__import__("sys").modules, "fire")


def test_html_is_report() -> None:
    Path("p.py").touch()
    one, other = (
        parsing.request("run", [name, "x.html", "p.py"]) for name in ("--html", "--report")
    )
    assert one == other and one.report is not None

"""`fusewright run`: an unmodified program with the drop-in, explained, reported, compared."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from fusewright.base.later import later
from fusewright.cli.program import Outcome, Program, Settings, execute

if TYPE_CHECKING:
    import subprocess
    import tempfile
    from pathlib import Path

    from rich.table import Table

    from fusewright.base import options, words
    from fusewright.cli import compare, console
    from fusewright.cli.sampling import HotPlace, Samples
    from fusewright.runtime.profile import Profile
else:
    options, compare = later("fusewright.base.options"), later("fusewright.cli.compare")
    console, words = later("fusewright.cli.console"), later("fusewright.base.words")
    subprocess, tempfile = later("subprocess"), later("tempfile")

FAILED = 1
STDERR_LINES = 20
WIDE = 100
"""Columns from which a comparison has room to spare."""
LEGEND = (
    "identical: the same bits. agrees: no element is further from NumPy's than rtol times its\n"
    "size, or times the result's root mean square where that is more; what is no float is equal.\n"
    "ulp: units in the last place."
)


class Request(NamedTuple):
    """What the user asked for; a setting that is None keeps the environment's or the default.

    `save` is the folder where a comparing process wants the results; `picture` names a global
    array of two dims that the report shows; `command` is what the user has written.
    """

    program: Program
    explain: bool = False
    full: bool = False
    report: Path | None = None
    compare: bool = False
    results: tuple[str, ...] | None = None
    rtol: float | None = None
    strict: bool | str | None = None
    threads: int | None = None
    fuse: bool | None = None
    plain: bool = False
    save: Path | None = None
    library: str = "numpy"
    pyscf: bool = False
    picture: str | None = None
    command: str = "run"

    @property
    def listens(self) -> bool:
        return self.explain or self.report is not None

    def changes(self) -> dict[str, Any]:
        """What the user has set, as options."""
        settings = {"strict": self.strict, "threads": self.threads, "fuse": self.fuse}
        return {name: setting for name, setting in settings.items() if setting is not None}

    def settings(self) -> list[str]:
        """What the user has set, as words of a command line."""
        words = ["--as", self.library, *(["--pyscf"] if self.pyscf else [])]
        if self.threads is not None:
            words += ["--threads", str(self.threads)]
        for name, flag in (("strict", self.strict), ("fuse", self.fuse)):
            if flag is not None:
                value = f"={flag}" if isinstance(flag, str) else ""
                words.append(f"--{name}{value}" if flag else f"--no-{name}")
        return words


class Compared(NamedTuple):
    """Both times of a program and how its results differ."""

    ours: float
    theirs: float
    rows: tuple[compare.Comparison, ...]

    @property
    def agrees(self) -> bool:
        return not any(row.problem for row in self.rows)


class Ran(NamedTuple):
    """A run that has ended, with what was recorded of it."""

    outcome: Outcome
    profile: Profile | None
    compared: Compared | None
    picture: Any = None
    hot: HotPlace | None = None


class CannotCompare(Exception):
    """The comparison that was asked for could not be made."""


def run(request: Request, stream: TextIO | None = None) -> int:
    """Run the program, then print and write what was asked for; returns the exit code.

    What Fusewright says goes to `stream`, standard error unless told otherwise: standard output is
    the program's.
    """
    stream = stream or sys.stderr
    path = list(sys.path)
    try:
        ran = perform(request)
    except (CannotCompare, compare.NoResults) as error:
        console.say(str(error))
        return FAILED
    sys.stdout.flush()
    # The program's folder must not shadow what is imported to print; its exit functions need it.
    programs, sys.path[:] = list(sys.path), path
    show(request, ran, stream)
    give_hints(request)
    sys.path[:] = programs
    if ran.compared is not None and not ran.compared.agrees:
        return ran.outcome.code or FAILED
    return ran.outcome.code


def give_hints(request: Request) -> None:
    """Words of a command line that may stand in the wrong place."""
    if any(word.startswith("--") for word in request.program.arguments):
        # Imported here: few programs have options.
        from fusewright.cli import hints

        hints.tell(request.command, request.program)


def perform(request: Request) -> Ran:
    """Run the program once, or with plain NumPy first where a comparison is asked for."""
    changes = request.changes()
    if request.listens:
        changes["spans"] = True
    if changes:
        options.set_defaults(**changes)
    if sys.stderr.isatty() and not request.plain:
        show_compiling()
    if not request.compare:
        return _run_once(request, None)
    # Imported here: a program that is only run has no results to compare.
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="fusewright-") as folder:
        text = sys.stdin.buffer.read() if request.program.kind == "stdin" else None
        plain, timed = Path(folder) / "numpy", Path(folder) / "fusewright"
        with _as_stdin(text):
            problem = _run_apart(request, plain, ["--plain"], text)
            if problem:
                raise CannotCompare(
                    f"with plain NumPy the program {problem[0]}, so there is nothing to compare "
                    f"with:\n{problem[1]}{_without_drop_in(request, problem[1])}"
                )
            # Recording takes time: what is compared with NumPy's is that of a run without it.  One
            # that fails will fail again, and is reported then.
            if not request.listens or _run_apart(request, timed, request.settings(), text):
                return _run_once(request, plain)
            return _run_once(request, plain, timed)


def _without_drop_in(request: Request, said: str) -> str:
    """What to do where the run to compare with lacks the library that the drop-in stands for."""
    if f"No module named '{request.library}'" not in said:
        return ""
    return (
        f"\n    help: `--compare` also runs the program without Fusewright, and that needs "
        f"{request.library} itself: install it, or leave `--compare` out"
    )


def show_compiling() -> None:
    """A bar while the program waits for many kernels; not where a thread of ours compiles beside
    it, for then the terminal is the program's.
    """
    # Imported here: on a terminal only.
    from _thread import get_ident

    from fusewright.base import progress

    waiting, unseen = get_ident(), progress.show
    progress.set_show(
        lambda what, total: (console.progress if get_ident() == waiting else unseen)(what, total)
    )


def _run_once(request: Request, plain: Path | None, timed: Path | None = None) -> Ran:
    """Run it in this process; `plain` is the folder with the results to compare with, `timed` that
    of a run whose time counts.
    """
    results: compare.Results = {}
    refused: list[compare.NoResults] = []
    wanted = plain is not None or request.save is not None

    pictures: list[Any] = []

    def ask_at_the_end(namespace: dict[str, Any]) -> None:
        if request.picture is not None:
            pictures.append(namespace[request.picture])
        if wanted:
            try:
                results.update(compare.collect(namespace, request.results))
            except compare.NoResults as error:
                refused.append(error)

    at_end = ask_at_the_end if wanted or request.listens else None
    if request.pyscf:
        importlib.import_module("fusewright.bridges.pyscf").install()
    with _listening(request.listens) as profile, _sampled(request.listens) as samples:
        outcome = execute(request.program, Settings(request.plain, request.library, at_end))
    hot = None if samples is None else samples.hottest()
    if profile is not None:
        profile.began = outcome.began  # what was loaded before is none of the program's time
    if refused:
        raise refused[0]
    if request.save is not None and outcome.error is None:
        compare.save(request.save, results, outcome.seconds)
    if plain is None:
        return Ran(outcome, profile, None, hot=hot)
    if outcome.error is not None:
        console.say("nothing was compared: the program did not come to its end")
        return Ran(outcome, profile, None, hot=hot)
    theirs, theirs_seconds = compare.load(plain)
    rows = compare.compare_all(results, theirs, request.rtol)
    seconds = outcome.seconds if timed is None else compare.load(timed)[1]
    picture = pictures[0] if pictures else None
    return Ran(outcome, profile, Compared(seconds, theirs_seconds, tuple(rows)), picture, hot)


def time_again(request: Request) -> float | None:
    """What the program takes in a process of its own, seconds; None where it fails there."""
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="fusewright-") as folder:
        kept = Path(folder) / "again"
        if _run_apart(request, kept, request.settings(), None):
            return None
        return compare.load(kept)[1]


def _sampled(wanted: bool) -> AbstractContextManager[Samples | None]:
    if not wanted:
        return nullcontext()
    # Imported here: few runs are looked at.
    from fusewright.cli.sampling import sampled

    return sampled()


def _listening(wanted: bool) -> AbstractContextManager[Profile | None]:
    if not wanted:
        return nullcontext()
    # Imported here: few runs are recorded.
    from fusewright.runtime.profile import listen

    return listen()


def _run_apart(
    request: Request, folder: Path, options: list[str], text: bytes | None
) -> tuple[str, str] | None:
    """Run the same program in a process of its own, its output kept back, its results and its time
    written to a new folder; how it ended and its last words where it left none.
    """
    folder.mkdir()
    command = [sys.executable, "-m", "fusewright", "run", *options, "--save", os.fspath(folder)]
    if request.results is not None:
        command += ["--results", ",".join(request.results)]
    command += request.program.command()
    # Without a program on it, standard input is empty: reading it here would take it from the run.
    by = "NumPy" if "--plain" in options else "Fusewright"
    with console.progress(f"running {_title(request.program)} with {by}"):
        done = subprocess.run(command, capture_output=True, check=False, input=text or b"")
    if (folder / "results.json").exists():
        return None
    lines = done.stderr.decode(errors="replace").splitlines()[-STDERR_LINES:]
    return f"ended with exit code {done.returncode}", "\n".join(f"    {line}" for line in lines)


@contextmanager
def _as_stdin(text: bytes | None) -> Iterator[None]:
    """Give the program's text, read for the plain run, to the second run too."""
    if text is None:
        yield
        return
    before, sys.stdin = sys.stdin, TextIOWrapper(BytesIO(text), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


def show(request: Request, ran: Ran, stream: TextIO) -> None:
    """Print the explanation and the comparison, write the report."""
    if ran.profile is not None:
        # Imported here: neither is needed by a plain `run`.
        from fusewright.cli.explain import print_summary
        from fusewright.cli.summary import summarise

        summary = summarise(ran.profile)
        if request.explain:
            screen = console.make_console(stream)
            print_summary(summary, screen, ran.outcome.seconds, request.full, ran.hot)
        if request.report is not None:
            _write_report(request, ran)
            print(f"report: {request.report}", file=stream)
    if ran.compared is not None:
        print_comparison(ran.compared, stream)


def _write_report(request: Request, ran: Ran) -> None:
    from fusewright.cli.report import Story, render

    assert ran.profile is not None and request.report is not None
    story = Story(
        title=_title(request.program),
        seconds=ran.outcome.seconds,
        error="" if ran.outcome.code == 0 else _ending(ran.outcome),
        plain_seconds=ran.compared.theirs if ran.compared else None,
        own_seconds=ran.compared.ours if ran.compared else None,
        agrees=ran.compared.agrees if ran.compared else None,
        comparisons=ran.compared.rows if ran.compared else (),
        picture=ran.picture,
        hot=ran.hot,
    )
    request.report.write_text(render(ran.profile, story), encoding="utf-8")


def _title(program: Program) -> str:
    """The program and its arguments; of a whole path the name is enough."""
    name = os.path.basename(program.name) if os.path.isabs(program.name) else program.name
    return " ".join(program._replace(name=name).command())


def _ending(outcome: Outcome) -> str:
    """One line that says how a program failed."""
    error = outcome.error
    if error is None or isinstance(error, SystemExit):
        return f"exit code {outcome.code}"
    return f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(": ")


def print_comparison(compared: Compared, stream: TextIO) -> None:
    """Both times, their ratio, and one row for each result."""
    screen = console.make_console(stream)
    wide = screen.width >= WIDE
    screen.print(_comparison_table(compared, wide))
    ratio = compared.theirs / compared.ours if compared.ours else float("inf")
    theirs, ours = words.seconds(compared.theirs), words.seconds(compared.ours)
    screen.print(f"NumPy {theirs}, Fusewright {ours}: {ratio:.2f}x")
    screen.print(LEGEND if wide else LEGEND.replace("\n", " "), markup=False)
    if compared.agrees:
        screen.print("[green]All results agree.[/]")
        return
    bad = ", ".join(row.name for row in compared.rows if row.problem)
    screen.print(f"[red]Results differ:[/] {bad}", markup=True)
    screen.print(
        "Random numbers need a seed to be the same twice. A name that differs by nature (a time, "
        'an id) is left out with __results__ = ["a", "b"] in the program or --results a,b.'
    )


def _comparison_table(compared: Compared, wide: bool) -> Table:
    from rich import box
    from rich.table import Table

    padding = (0, 1) if wide else (0, 0, 0, 1)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=padding)
    for heading in ("result", "dtype", "shape", "max abs", "max rel", "max ulp", "rtol", ""):
        table.add_column(heading, justify="right" if heading.startswith("max") else "left")
    for row in compared.rows:
        shape = " x ".join(map(str, row.shape)) or "scalar"
        numbers = (row.largest_absolute, row.largest_relative, row.largest_ulp)
        verdict = row.problem or ("identical" if row.identical else "agrees")
        rtol = f"{row.rtol:.0e}" if row.rtol else "exact"
        table.add_row(
            row.name, row.dtype, shape, *(f"{value:.2g}" for value in numbers), rtol, verdict
        )
    return table

"""How the program speaks: messages, tables, bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TextIO

import fusewright
from fusewright.base.source import near

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from fusewright.runtime.profile import Line

PLAIN_WIDTH = 110
"""Columns where the output is a file or a pipe, which have no width of their own."""

PATIENCE = 2.0
"""Seconds without a word before a bar shows that something is going on."""

GAP = 1.0
"""Seconds between two waits for the same that make them one."""


def say(message: str) -> None:
    """One line to the user, beside the program's own output."""
    print(f"fusewright: {message}", file=sys.stderr)


def make_console(stream: TextIO) -> Console:
    """A rich console: colours on a terminal, plain text elsewhere."""
    # Imported here: rich costs 30 ms, and most runs print nothing of ours.
    from rich.console import Console

    if stream.isatty():
        return Console(file=stream, highlight=False)
    return Console(file=stream, highlight=False, width=PLAIN_WIDTH, color_system=None)


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """A bar on standard error while something takes long: after two seconds, on a terminal only.

    Gives the function that says that one of `total` parts is done; without a total it only moves.
    What begins again within a second goes on where it was: kernels of loops are compiled one by
    one, each when it is called first, and what counts is how long all of them take.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    # Imported here: on a terminal only.
    from threading import Timer
    from time import monotonic

    began = monotonic()
    before = waited.get(what, _NEVER)
    if began - before.ended > GAP:
        before = _NEVER
    bar = _Bar(what, None if total is None else before.done + total, before.done)
    later = Timer(max(PATIENCE - before.seconds, 0.0), bar.start)
    later.daemon = True
    later.start()
    try:
        yield bar.advance
    finally:
        later.cancel()
        later.join()
        bar.stop()
        ended = monotonic()
        waited[what] = _Waited(ended, before.seconds + ended - began, bar.done)


class _Waited(NamedTuple):
    """When something was waited for last, how long so far, and how much of it is done."""

    ended: float
    seconds: float
    done: int


_NEVER = _Waited(float("-inf"), 0.0, 0)
waited: dict[str, _Waited] = {}


class _Bar:
    """A bar that another thread may start; what is done before counts."""

    def __init__(self, what: str, total: int | None, done: int) -> None:
        self.what, self.total, self.done = what, total, done
        self.bar: Progress | None = None

    def start(self) -> None:
        """Draw it; without rich the work goes on unseen."""
        # Imported here: most work is done before it is needed.
        try:
            from rich.progress import Progress
        except ModuleNotFoundError:
            return
        shared = sys.stdout.isatty()  # what a program prints meanwhile stands above the bar
        console = make_console(sys.stderr)
        bar = Progress(
            console=console, transient=True, redirect_stdout=shared, redirect_stderr=shared
        )
        bar.add_task(self.what, total=self.total, completed=self.done)
        bar.start()
        self.bar = bar

    def advance(self) -> None:
        """One part is done."""
        self.done += 1
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.done)

    def stop(self) -> None:
        """Take it away."""
        if self.bar is not None:
            self.bar.stop()


def place(line: Line | None) -> str:
    """`file:line`, the file relative to the current folder where that is shorter."""
    if line is None:
        return "-"
    return f"{near(line[0])}:{line[1]}"


def version_of(package: str) -> str:
    """The version of a package, of Fusewright also where it is used without being installed."""
    if package == "fusewright":
        return fusewright.__version__
    # Imported here: it costs 15 ms, and only messages need it.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"

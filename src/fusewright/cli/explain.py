"""Prints what ran, for `--explain`: each flush, its kernels, what fused and what not, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fusewright.base.words import count, seconds, size
from fusewright.cli import overview
from fusewright.cli.console import place
from fusewright.cli.overview import often, ratio, times
from fusewright.cli.summary import FlushGroup, KernelGroup, OpaqueGroup, Summary
from fusewright.runtime.profile import left_to_library

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.tree import Tree

    from fusewright.cli.sampling import HotPlace

MOST_FLUSHES = 20
"""Kinds of flush printed; the HTML report has them all."""
SCREEN = 40
"""Lines that are printed unasked."""


def print_summary(
    summary: Summary,
    console: Console,
    whole: float | None = None,
    full: bool = False,
    hot: HotPlace | None = None,
) -> None:
    """The first screen; then, where there is room on it or it is asked for, one tree for each kind
    of flush.  `whole` is the program's time in seconds, `hot` the loop, or the package,
    that most of its own time goes into.
    """
    first = list(overview.lines_of(summary, whole, hot))
    console.print(*first, sep="\n", markup=False)
    if full:
        for text in _flushes(summary, console):
            console.file.write(text)
        return
    taken = sum(1 + max(len(line) - 1, 0) // console.width for line in first)
    trees = _that_fit(summary, console, SCREEN - taken)
    if trees is not None:
        console.file.write(trees)
        return
    kernels = len(summary.kernels)
    each = f"each of the {kernels} kernels" if kernels > 1 else "the kernel"
    console.print(f"--full prints what {each} ran, and why; --report FILE writes a page")


def _that_fit(summary: Summary, console: Console, most: int) -> str | None:
    """What ran, kernel by kernel; None where it has more lines.  What does not fit takes seconds to
    print, so it is not tried where there are too many operations, and not printed to its end.
    """
    if sum(len(kernel.operations) for kernel in summary.kernels) > most:
        return None
    found = ""
    for text in _flushes(summary, console):
        found += text
        if found.count("\n") > most:
            return None
    return found


def _flushes(summary: Summary, console: Console) -> Iterator[str]:
    """A tree for each kind of flush, as the console prints it."""
    shown: set[str] = set()
    for flush in summary.flushes[:MOST_FLUSHES]:
        with console.capture() as captured:
            console.print(_flush_tree(flush, shown))
        yield captured.get()
    left = len(summary.flushes) - MOST_FLUSHES
    if left > 0:
        yield f"... and {left} more kinds of flush: --report shows them all\n"


def _flush_tree(flush: FlushGroup, shown: set[str]) -> Tree:
    """The steps of a flush, in full where they come first; `shown` are the labels of those."""
    from rich.markup import escape
    from rich.tree import Tree

    title = f"flush {flush.first}: {flush.trigger} at {place(flush.line)}"
    tree = Tree(
        f"[bold]{escape(title)}[/]{times(flush.runs)}, {seconds(flush.seconds)}", highlight=False
    )
    for step, repeats in flush.turns:
        if step.label in shown:
            what = "kernel" if isinstance(step, KernelGroup) else "library step"
            tree.add(f"[cyan]{step.label} {what}[/] {escape(step.name)}{times(repeats)}: as above")
            continue
        shown.add(step.label)
        if isinstance(step, KernelGroup):
            _add_kernel(tree, step)
        else:
            _add_opaque(tree, step)
        if repeats > 1:
            tree.add(f"[cyan]{step.label}[/] again{times(repeats - 1)}")
    return tree


def _add_opaque(tree: Tree, step: OpaqueGroup) -> None:
    from rich.markup import escape

    branch = tree.add(
        f"[yellow]{step.label} library step[/] {escape(f'{step.library}: {step.name}')} "
        f"at {escape(place(step.line))}{times(step.runs)}, {seconds(step.seconds)}"
    )
    branch.add(escape(left_to_library(step.why)))


def _add_kernel(tree: Tree, kernel: KernelGroup) -> None:
    from rich.markup import escape

    origins = ", ".join(
        origin + (f" {often(runs)}" if kernel.runs > 1 else "") for origin, runs in kernel.origins
    )
    branch = tree.add(
        f"[cyan]{kernel.label} kernel[/] {escape(kernel.name)}{times(kernel.runs)}, "
        f"{seconds(kernel.seconds)}, {count(kernel.threads, 'thread')}, code from: {origins}"
    )
    moved = f"read {size(kernel.bytes_read)}, written {size(kernel.bytes_written)}"
    if kernel.kind == "loops":
        branch.add(f"arrays: {moved}")
        branch.add(_loops(kernel))
    else:
        branch.add(
            f"memory: {moved}; unfused {size(kernel.bytes_unfused)}, "
            f"{saved(kernel)}{ratio(kernel.bytes_unfused, kernel.bytes_moved)}"
        )
        branch.add(_operations(kernel))
    for decision in kernel.decisions:
        at = f" ({place(decision.line)})" if decision.line else ""
        text = "\n".join(decision.lines(at)).removeprefix(decision.word)
        colour = "green" if decision.fused else "red"
        branch.add(f"[{colour}]{decision.word}[/]{escape(text)}")


def saved(kernel: KernelGroup) -> str:
    """What fusing saved, or cost."""
    return f"saved {size(kernel.saved)}" if kernel.saved >= 0 else f"{size(-kernel.saved)} more"


def _operations(kernel: KernelGroup) -> Table:
    rows = (
        (o.name, o.dtype, " x ".join(map(str, o.shape)) or "scalar", o.place, place(o.line))
        for o in kernel.operations
    )
    return _table(("operation", "dtype", "shape", "lives in", "line"), rows)


def _loops(kernel: KernelGroup) -> Table:
    rows = (
        (place(o.line), o.name, o.place + (f": {o.why}" if o.why else ""))
        for o in kernel.operations
    )
    return _table(("line", "loop", "runs"), rows)


def _table(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table

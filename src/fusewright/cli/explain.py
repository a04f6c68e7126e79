"""Prints what ran, for `--explain`: each flush, its kernels, what fused and what not, and why."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fusewright.cli.console import count, seconds, size
from fusewright.cli.summary import FlushGroup, KernelGroup, OpaqueGroup, Summary
from fusewright.runtime.profile import Line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.tree import Tree

MOST_FLUSHES = 20
"""Kinds of flush printed; the HTML report has them all."""
MOST_DEAREST = 3
"""Steps told first, those that took longest."""


def place(line: Line | None) -> str:
    """`file:line`, the file relative to the current folder where that is shorter."""
    if line is None:
        return "-"
    path = line[0]
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return f"{min(path, relative, key=len)}:{line[1]}"


def print_summary(summary: Summary, console: Console) -> None:
    """The totals and the dearest steps first, then one tree for each kind of flush."""
    console.print(*totals(summary), *dearest(summary), sep="\n", markup=False)
    for flush in summary.flushes[:MOST_FLUSHES]:
        console.print(_flush_tree(flush))
    left = len(summary.flushes) - MOST_FLUSHES
    if left > 0:
        console.print(f"... and {left} more kinds of flush: --report shows them all")


def dearest(summary: Summary) -> list[str]:
    """The steps that took longest, each with its line and what kept it from being faster."""
    steps: list[KernelGroup | OpaqueGroup] = [*summary.kernels, *summary.opaque]
    steps.sort(key=lambda step: -step.seconds)
    return ["the dearest steps:", *map(_dear, steps[:MOST_DEAREST])] if steps else []


def _dear(step: KernelGroup | OpaqueGroup) -> str:
    if isinstance(step, OpaqueGroup):
        line, why, what = step.line, step.why, "library step"
    else:
        lines = [o.line for o in step.operations if o.place != "input" and o.line]
        whys = [o.why for o in step.operations if o.why and o.place == "in order"]
        whys += [f"{d.what} not fused: {d.why}" for d in step.decisions if not d.fused]
        line, why, what = next(iter(lines), None), next(iter(whys), ""), "kernel"
    told = f"  {step.label} {what} {step.name} at {place(line)}{_times(step.runs)}, "
    return told + seconds(step.seconds) + (f": {why}" if why else "")


def totals(summary: Summary) -> list[str]:
    """The totals as lines of plain text."""
    if not summary.flushes:
        return ["Nothing was evaluated: no array value was asked for."]
    flushes = sum(f.runs for f in summary.flushes)
    lines = [
        f"{count(flushes, 'flush') if flushes == 1 else f'{flushes:,} flushes'}: "
        f"{count(summary.operations, 'array operation')} ran as "
        f"{count(summary.kernel_runs, 'kernel run')} of {count(len(summary.kernels), 'kernel')} "
        f"in {seconds(summary.kernel_seconds)}",
        f"memory moved {size(summary.bytes_moved)}; one operation at a time "
        f"{size(summary.bytes_unfused)}{_ratio(summary.bytes_unfused, summary.bytes_moved)}",
        f"compiling {seconds(summary.compile_seconds)}",
    ]
    if summary.opaque:
        lines.append(
            f"{count(summary.opaque_runs, 'library step')} ran as they are "
            f"in {seconds(summary.opaque_seconds)}"
        )
    return lines


def _ratio(unfused: int, moved: int) -> str:
    return f" ({unfused / moved:.1f}x)" if moved else ""


def _times(runs: int) -> str:
    return f", {runs:,} times" if runs > 1 else ""


def _flush_tree(flush: FlushGroup) -> Tree:
    from rich.markup import escape
    from rich.tree import Tree

    title = f"flush {flush.first}: {flush.trigger} at {place(flush.line)}"
    tree = Tree(
        f"[bold]{escape(title)}[/]{_times(flush.runs)}, {seconds(flush.seconds)}", highlight=False
    )
    for step in flush.steps:
        if isinstance(step, KernelGroup):
            _add_kernel(tree, step)
        else:
            _add_opaque(tree, step)
    return tree


def _add_opaque(tree: Tree, step: OpaqueGroup) -> None:
    from rich.markup import escape

    branch = tree.add(
        f"[yellow]{step.label} library step[/] {escape(f'{step.library}: {step.name}')} "
        f"at {escape(place(step.line))}{_times(step.runs)}, {seconds(step.seconds)}"
    )
    branch.add(escape(f"not compiled: {step.why}"))


def _add_kernel(tree: Tree, kernel: KernelGroup) -> None:
    from rich.markup import escape

    origins = ", ".join(f"{origin} {runs:,}" for origin, runs in kernel.origins)
    branch = tree.add(
        f"[cyan]{kernel.label} kernel[/] {escape(kernel.name)}{_times(kernel.runs)}, "
        f"{seconds(kernel.seconds)}, {count(kernel.threads, 'thread')}, code from: {origins}"
    )
    branch.add(
        f"memory: read {size(kernel.bytes_read)}, written {size(kernel.bytes_written)}; "
        f"unfused {size(kernel.bytes_unfused)}, saved {size(kernel.saved)}"
        f"{_ratio(kernel.bytes_unfused, kernel.bytes_moved)}"
    )
    branch.add(_operations(kernel))
    for decision in kernel.decisions:
        word = "[green]fused[/]" if decision.fused else "[red]not fused[/]"
        at = f" ({place(decision.line)})" if decision.line else ""
        branch.add(f"{word} {escape(f'{decision.what}: {decision.why}{at}')}")


def _operations(kernel: KernelGroup) -> Table:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("operation", "dtype", "shape", "lives in", "line"):
        table.add_column(heading)
    for operation in kernel.operations:
        shape = " x ".join(map(str, operation.shape)) or ("scalar" if operation.dtype else "")
        cells = (operation.name, operation.dtype, shape, operation.place, place(operation.line))
        table.add_row(*map(escape, cells))
    return table

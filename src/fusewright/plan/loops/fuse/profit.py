"""Whether fusing pays: what is saved against what it costs.

Saved: passes over arrays that both loops touch, launches.  Lost: a loop that ran on threads or in
vectors and would no longer; too many streams written at once; a body that no longer fits.
"""

from __future__ import annotations

from fusewright.ir.loops.statements import Kernel
from fusewright.machine import record as machine
from fusewright.plan.loops.fuse.nests import Item

LOOPS = 32
"""Loops in a group, at most: a further one is compared with each of them."""


def against_merging(a: Item, b: Item, same: bool) -> str:
    """Why two loops are not made one though they could be; empty where it pays."""
    here = machine.current()
    if a.size + b.size > here.decoded:
        return f"skipped by cost: a body of {a.size + b.size} operations > {here.decoded}"
    if a.parallel != b.parallel:
        return "skipped by cost: one of them runs in order, and the other one would too"
    if a.vector != b.vector:
        return "skipped by cost: they run in vectors along different loops"
    shared = a.buffers & b.buffers
    streams = len(a.written | b.written)
    if not shared and not same:
        return "skipped by cost: they share no array and differ in their bounds"
    most = here.write_streams if shared else here.written_alone
    if streams > most:
        return f"skipped by cost: {streams} write streams > {most}"
    return ""


def against_strips(kernel: Kernel, group: list[Item], b: Item) -> str:
    """Why a loop does not join loops that run strip by strip; empty where it pays."""
    size = sum(member.size for member in group) + b.size
    most = machine.current().decoded
    if size > most:
        return f"skipped by cost: {size} operations > {most}"
    if len(group) >= LOOPS:
        return f"skipped by cost: {len(group)} loops run together"
    shared = any(
        kernel.buffers[number].extents for member in group for number in member.buffers & b.buffers
    )
    return "" if shared else "skipped by cost: they share no array"

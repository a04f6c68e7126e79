"""A plan of loops as text, for people and for tests: the statements as they run, then how their
loops run, then what became of each pair of loops; after `otherwise`, the same of the other form.

    kernel scale
      for i0 in [0, p0):
        b0[i0] = (b0[i0] * 2.0)
    threads i0
    vectors i0
    work i0: 1500
    loop i0 on threads and in vectors: its iterations are independent
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fusewright.ir.loops.text import expression_text, kernel_text
from fusewright.plan.loops.plan import LoopPlan, LoopReport, PairReport
from fusewright.plan.loops.wording import loop_line


def plan_text(plan: LoopPlan) -> str:
    """The whole plan."""
    return "\n".join(_lines(plan))


def _lines(plan: LoopPlan) -> Iterator[str]:
    yield kernel_text(plan.kernel).rstrip("\n")
    for word, dims in (("threads", plan.threads), ("vectors", plan.vectors)):
        if dims:
            yield f"{word} {_dims(sorted(dims))}"
    for dim, count in sorted(plan.wide.items()):
        yield f"wide i{dim}: {count}"
    for dim, cost in sorted(plan.work.items()):
        yield f"work i{dim}: {expression_text(plan.kernel, cost)}"
    yield from _combined("folds", "v", plan.folds)
    yield from _combined("copies", "b", plan.copies)
    if plan.gone:
        yield "gone " + ", ".join(f"b{buffer}" for buffer in sorted(plan.gone))
    if plan.gain:
        yield f"gain {plan.gain!r}"
    yield from map(_loop, plan.loops)
    yield from map(_pair, plan.pairs)
    if plan.guard is not None:
        yield f"guard {plan.guard.text}"
    if plan.otherwise is not None:
        yield "otherwise"
        yield from _lines(plan.otherwise)


def _dims(dims: list[int] | tuple[int, ...]) -> str:
    return ", ".join(f"i{dim}" for dim in dims)


def _combined(word: str, letter: str, table: Mapping[int, Mapping[int, str]]) -> Iterator[str]:
    for dim, combined in sorted(table.items()):
        if not combined:
            continue
        inner = ", ".join(f"{letter}{number} by {by}" for number, by in sorted(combined.items()))
        yield f"{word} i{dim}: {inner}"


def _loop(loop: LoopReport) -> str:
    return f"loop {_dims(loop.dims)} {loop_line(loop).runs}"


def _pair(pair: PairReport) -> str:
    words = [f"pair {pair.first[1]} {pair.second[1]}", "fused" if pair.fused else "apart"]
    words += [f"at {pair.level}"] if pair.level else []
    words += [f"on {', '.join(pair.on)}"] if pair.on else []
    words += [f"as {pair.form}"] if pair.form else []
    words += [f"saves {pair.nbytes}"] if pair.nbytes else []
    words += [f"when {pair.when}"] if pair.when else []
    return f"{' '.join(words)}{': ' + pair.why if pair.why else ''}"

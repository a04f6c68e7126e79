"""What is known of a kernel's codes and calls, and each as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.base.words import memory, seconds
from fusewright.plan.loops.plan import LoopReport, PairReport
from fusewright.plan.loops.wording import written
from fusewright.runtime.profile import Decision


@dataclass(frozen=True, slots=True)
class CodeRecord:
    """A kernel's code for one set of argument types.

    `arguments` spells the types; `statements` is the program as written, `planned` as it runs, both
    in the exact form, `listing` as it runs in the user's names; `pairs` say which neighbouring
    loops were fused; `seconds` is what getting the code took, `origin` where it came from.

    Where that is right for some parameters only, `guard` says for which, `otherwise` is the listing
    of what runs for others, and `taken` counts the calls of either.
    `measured` are the times of calls fused and apart, by the least size of their arrays in bytes.
    `sharing` are pairs of arrays, one of them written, that share memory in these calls.
    """

    arguments: tuple[str, ...]
    statements: str
    loops: tuple[LoopReport, ...]
    pairs: tuple[PairReport, ...]
    planned: str
    listing: str
    origin: str
    features: str
    seconds: float
    calls: int
    llvm: str
    guard: str = ""
    otherwise: str = ""
    taken: tuple[int, int] = (0, 0)
    sharing: tuple[tuple[str, str], ...] = ()
    measured: tuple[tuple[int, tuple[float, float] | None], ...] = ()


@dataclass(frozen=True, slots=True)
class LazyRecord:
    """What calls with lazy arrays of some shapes record: so many `operations` on arrays, or one
    pending value, because of `why` at a line.
    """

    arguments: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    operations: int
    why: str
    because: Span

    @property
    def raised(self) -> bool:
        """Whether its loops are array statements."""
        return not self.why


def lazy_lines(call: LazyRecord) -> Iterator[str]:
    """What calls with lazy arrays do."""
    shapes = ", ".join(map(str, call.shapes))
    yield f"for lazy ({', '.join(call.arguments)}) of shapes {shapes}"
    if call.raised:
        yield f"  recorded as array statements: {call.operations} operations"
        return
    yield f"  runs as a kernel of its own when a value is asked for: {call.why}"
    if call.because[1]:
        yield f"    line {call.because[1]}: {written(call.because)}"


def measured_lines(code: CodeRecord) -> Iterator[str]:
    """The times of both forms, where they were measured."""
    for nbytes, times in code.measured:
        where = f"arrays of {memory(nbytes)}"
        if times is None:
            yield f"  fused and apart are close; being measured for {where}"
            continue
        fused, apart = map(seconds, times)
        form = "fused" if times[0] <= times[1] else "apart"
        yield f"  measured for {where}: fused {fused}, apart {apart}: runs {form}"


def planned_lines(code: CodeRecord) -> Iterator[str]:
    """The loops as they run."""
    yield f"  when {code.guard}: {_calls(code.taken[0])}" if code.guard else "  as it runs:"
    yield from ("    " + line for line in code.listing.splitlines())
    if code.guard:
        yield f"  otherwise: {_calls(code.taken[1])}"
        yield from ("    " + line for line in code.otherwise.splitlines())


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def decisions(pairs: Iterable[PairReport]) -> list[Decision]:
    """What became of the pairs of loops that the user wrote; an array statement may have several
    loops of its own, of which only those that pass something on are worth a word.
    """
    told = (p for p in pairs if p.nbytes or p.first[:2] != p.second[:2] or not p.first[1])
    return [*dict.fromkeys(map(_decision, told))]


def _decision(pair: PairReport) -> Decision:
    """What became of two neighbouring loops; those without a line were array statements."""
    lines = [span[1] for span in (pair.first, pair.second)]
    what = (
        f"two loops of line {lines[0]}" if lines[0] and lines[0] == lines[1]
        else "lines {} and {}".format(*lines) if all(lines)
        else " and ".join(f"line {line}" if line else "an array statement" for line in lines)
    )  # fmt: skip
    line = pair.second if pair.second[0] else None
    if not pair.fused:
        return Decision(False, what, pair.why or "nothing to gain", line)
    on = f"on ({', '.join(pair.on)}), " if pair.on else ""
    when = f", when {pair.when}" if pair.when else ""
    traffic = f" and {pair.nbytes} bytes of memory traffic an iteration" if pair.nbytes else ""
    saves = f"saves a barrier{traffic}"
    return Decision(True, what, f"{on}{pair.form}{when}\n{saves}", line)

"""Times every public name of the drop-in beside NumPy's own, and lists what costs more.

    python -m tools.names [--ours] [--sizes 3 300] [--only PART] [--limit 1.1+1e-7] [-o TABLE]

Operands are plain NumPy arrays, or with `--ours` arrays of Fusewright's, and results are computed.
Both forms of a statement are a redirected module's, take turns, and count by their fastest turn.
What seems too slow is timed again, longer: a busy machine makes nothing look faster.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from tools.name_calls import Call, calls, operands

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.cli.redirect import compile_redirected

TURN = 30e-6
"""Seconds of calls in one turn."""
TURNS = 12
AGAIN = 6
"""Times that a call over the limit is timed again, each time with more turns."""
MOST_RESULTS = 9
SLOWEST = 0.02
"""Seconds of NumPy's above which a call is not timed: nothing fixed could be seen in it."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a call may cost: `factor` times NumPy's time and so many `seconds`."""

    factor: float
    seconds: float

    @classmethod
    def read(cls, text: str) -> Limit:
        """A limit written as `1.1+1e-7`."""
        return cls(*map(float, text.split("+", 1)))

    def __call__(self, theirs: float) -> float:
        return self.factor * theirs + self.seconds


PLAIN = Limit(1.1, 0.1e-6)
OURS = Limit(1.0, 0.5e-6)


REASONS = {
    "errstate()": "it looks whether errors are to raise or to call",
    "ndarray": "it looks for a buffer",
    "finfo": "it takes arrays, too",
}
"""Why calls of plain arrays may be above the limit."""
BECOMES_OURS = "more than 512 elements: the result becomes an array of ours"


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one call; the `reason` that is known if it takes longer than it should."""

    call: Call
    size: int
    theirs: float
    ours: float
    reason: str = ""


Run = Callable[[int], float]


def made(source: str, names: dict[str, Any], redirected: bool) -> Any:
    """The function `run` of a source that sees these names, as a user's module is compiled."""
    code = compile_redirected(source, "timed") if redirected else compile(source, "timed", "exec")
    module = dict(names)
    exec(code, module)
    return module["run"]


def _compiled(text: str, names: dict[str, Any], redirected: bool, wrap: str) -> Run:
    """A function that runs a statement so many times and returns the seconds."""
    is_value = not any(op in text for op in (" = ", "+= ", "-= ", "*= "))
    line = f"{wrap}({text})" if wrap and is_value else text
    source = (
        "import numpy as np\nfrom time import perf_counter\ndef run(times):\n    global w\n"
        f"    start = perf_counter()\n    for _ in range(times):\n        {line}\n"
        "    return perf_counter() - start\n"
    )
    run: Run = made(source, names, redirected)
    return run


def _turns(theirs: Run, ours: Run, turns: int) -> tuple[float, float]:
    """The least seconds of a call in so many turns each."""
    times = max(int(TURN / max(theirs(1), ours(1), 1e-7)), 1)
    pairs = [(theirs(times), ours(times)) for _ in range(turns)]
    return min(a for a, _ in pairs) / times, min(b for _, b in pairs) / times


def timed(call: Call, size: int, limit: Limit, names: Sequence[dict[str, Any]], wrap: str) -> Timed:
    """One call, timed until it is within the limit or has had all its turns."""
    theirs = _compiled(call.text, names[0], False, "")
    ours = _compiled(call.text, names[1], True, wrap)
    try:
        for _ in range(30 if wrap else 3):  # what is new is judged and compiled first
            ours(1)
    except Exception as error:  # noqa: BLE001
        print(f"{call.text}: {error!r}", file=sys.stderr)
        return Timed(call, size, 0.0, inf)
    least = _turns(theirs, ours, TURNS)
    for again in range(AGAIN):
        if least[1] <= limit(least[0]):
            break
        more = _turns(theirs, ours, TURNS * 2**again)
        least = min(least[0], more[0]), min(least[1], more[1])
    least = least[0], least[1] - (_cost_of_asking(names[1]) if wrap else 0.0)
    return Timed(call, size, *least, "" if wrap else _reason(call, names[1]))


def _cost_of_asking(names: dict[str, Any]) -> float:
    """Seconds of `computed` where there is nothing to compute: no part of a program."""
    with_it, without = _compiled("a", names, True, "computed"), _compiled("a", names, True, "")
    return max(float(np.subtract(*_turns(with_it, without, TURNS))), 0.0)


def _reason(call: Call, names: dict[str, Any]) -> str:
    is_value = call.text.startswith("np.") and " = " not in call.text
    if is_value and isinstance(eval(call.text, names | {"np": fnp}), fw.Array):
        return BECOMES_OURS
    return REASONS.get(call.name, "")


def names_of(size: int, of_ours: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Operands of NumPy's, and of the kind that the drop-in gets."""
    plain = operands(size) | {"g": np.random.default_rng(1)}
    other: dict[str, Any] = operands(size, fw.asarray if of_ours else np.asarray)
    if of_ours:
        fw.evaluate(*(value for value in other.values() if isinstance(value, fw.Array)))
    return plain, other | {
        "g": fnp.random.Generator(plain["g"].bit_generator),
        "computed": _computed,
    }


def _computed(value: Any) -> Any:
    if isinstance(value, tuple | list) and len(value) < MOST_RESULTS:
        return [_computed(each) for each in value]
    return fw.evaluate(value) if isinstance(value, fw.Array) else value


def measured(
    sizes: Iterable[int], of_ours: bool, only: str = "", limit: Limit | None = None
) -> Iterator[Timed]:
    """All calls, as they are timed: until they are within the limit."""
    limit, wrap = limit or (OURS if of_ours else PLAIN), "computed" if of_ours else ""
    for size in sizes:
        names = names_of(size, of_ours)
        for call in calls(names[0] | {"np": np}):
            if only not in f"{call.group} {call.text}":
                continue
            start = time.perf_counter()
            _compiled(call.text, names[0], False, "")(1)
            if time.perf_counter() - start < SLOWEST:
                yield timed(call, size, limit, names, wrap)


def over(found: Iterable[Timed], limit: Limit) -> list[Timed]:
    """Those above the limit, the worst first."""
    slow = [each for each in found if each.ours > limit(each.theirs)]
    return sorted(slow, key=lambda each: limit(each.theirs) - each.ours)


def row(each: Timed) -> str:
    """One line of the table."""
    more = each.ours - each.theirs
    times = (f"{each.theirs * 1e6:.2f}", f"{each.ours * 1e6:.2f}", f"{more * 1e6:+.2f}")
    cells = (each.call.group, f"`{each.call.text}`", each.size, *times, each.reason)
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ours", action="store_true", help="arrays of Fusewright's")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--only", default="", help="part of a call's group and text")
    parser.add_argument("--limit", type=Limit.read, help="factor+seconds, as 1.1+1e-7")
    parser.add_argument("--all", action="store_true", help="list every call")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    gc.disable()
    limit = given.limit or (OURS if given.ours else PLAIN)
    sizes = given.sizes or ([1000, 10_000] if given.ours else [3, 300])
    found = list(measured(sizes, given.ours, given.only, limit))
    shown = found if given.all else over(found, limit)
    text = "\n".join([
        f"# What public names cost on {'arrays of ours' if given.ours else 'plain arrays'}", "",
        f"`python -m tools.names{' --ours' if given.ours else ''}`, NumPy {np.__version__}.", "",
        f"{len(found)} calls timed, {len(over(found, limit))} above "
        f"{limit.factor} times NumPy's time and {limit.seconds * 1e6:.1f} us.", "",
        "| kind | call | elements | NumPy, us | ours, us | more | why |",
        "|---|---|---|---|---|---|---|",
        *map(row, shown),
    ])  # fmt: skip
    print(text)
    if given.output:
        given.output.write_text(text + "\n")


if __name__ == "__main__":
    main()

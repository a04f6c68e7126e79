"""Loops of two statements, every kind after every other, beside NumPy.

    python -m tools.sweep [--sizes 10 100 1000 10000 100000] [--limit 1.1] [-o TABLE]

Each statement reads or writes the same array, so that neither can wait for ever or be dropped.
Sizes below 1000 are parts of an array of 100 000 elements.  Both libraries take turns, and count by
their fastest turn; what seems too slow is timed again.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tools.names import made

import fusewright as fw

STATEMENTS = {
    "elementwise": "v = (w + b) * 0.5",
    "view write": "w[1:] = b[:-1] * 0.5",
    "mask write": "w[w > 0.9] = 0.25",
    "reduction read": "x = float(w.max())",
    "library step": "w[:] = np.sort(b)",
    "scalar read": "x = w[3]",
}
"""A statement of each kind; `w` is what all of them work on, `b` is only read."""
WHOLE = 100_000
PARTS = 1000
"""Below so many elements arrays are parts of larger ones."""
SIZES = (10, 100, 1000, 10_000, 100_000)
LOOP = 40
"""Rounds of a loop."""
TURNS, AGAIN = 5, 4
WARM = 0.3
"""Seconds before a loop is timed."""
LIMIT = 1.1
Run = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one round of two statements."""

    pair: tuple[str, str]
    size: int
    theirs: float
    ours: float

    @property
    def ratio(self) -> float:
        """Our time by NumPy's."""
        return self.ours / self.theirs


def arrays(size: int, of: Callable[[Any], Any]) -> dict[str, Any]:
    """The operands: parts of larger arrays where they are few elements."""
    draw = np.random.default_rng(1)
    whole = [of(draw.random(max(size, WHOLE if size < PARTS else size))) for _ in range(2)]
    return {
        name: each[:size] if size < PARTS else each for name, each in zip("wb", whole, strict=True)
    }


def _loop(pair: tuple[str, str], names: dict[str, Any], redirected: bool) -> Run:
    """A function that runs the loop, what is left of it included, and returns the seconds."""
    source = (
        "import numpy as np\nfrom time import perf_counter\ndef run():\n"
        f"    start = perf_counter()\n    for _ in range({LOOP}):\n"
        f"        {STATEMENTS[pair[0]]}\n        {STATEMENTS[pair[1]]}\n"
        f"    finish({'w, v' if 'elementwise' in pair else 'w'})\n"
        "    return perf_counter() - start\n"
    )
    run: Run = made(source, names, redirected)
    return run


def _nothing(*values: Any) -> None:
    """NumPy's arrays are computed."""


def timed(pair: tuple[str, str], size: int, limit: float) -> Timed:
    """One pair, timed until it is within the limit or has had all its turns."""
    theirs = _loop(pair, arrays(size, np.array) | {"finish": _nothing}, False)
    ours = _loop(pair, arrays(size, fw.asarray) | {"finish": fw.evaluate}, True)
    start = time.perf_counter()
    while time.perf_counter() - start < WARM:  # new structures are compiled beside the program
        theirs()
        ours()
    least = [float("inf")] * 2
    for _ in range(AGAIN):
        for _ in range(TURNS):
            least = [min(least[0], theirs()), min(least[1], ours())]
        if least[1] <= limit * least[0]:
            break
        time.sleep(WARM)
    return Timed(pair, size, least[0] / LOOP, least[1] / LOOP)


def measured(sizes: Iterable[int], limit: float) -> Iterator[Timed]:
    """All ordered pairs of statements at all sizes."""
    for size in sizes:
        for first in STATEMENTS:
            for second in STATEMENTS:
                yield timed((first, second), size, limit)


def table(found: list[Timed], limit: float) -> str:
    """How many are above the limit; the ratio of every pair at every size."""
    slow = [each for each in found if each.ratio > limit]
    sizes = sorted({each.size for each in found})
    lines = ["# Loops of two statements, by NumPy's time", ""]
    lines += [f"`python -m tools.sweep`, NumPy {np.__version__}.", ""]
    lines += [f"{len(found)} loops, {len(slow)} above {limit} times NumPy's time.", ""]
    lines += [f"| first | second | {' | '.join(map(str, sizes))} |"]
    lines += [f"|---|---|{'---|' * len(sizes)}"]
    for pair in dict.fromkeys(each.pair for each in found):
        cells = [f"{each.ratio:.2f}" for each in found if each.pair == pair]
        lines.append(f"| {pair[0]} | {pair[1]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    gc.disable()
    found = list(measured(given.sizes, given.limit))
    text = table(found, given.limit)
    print(text)
    if given.output:
        given.output.write_text(text)
    sys.exit(any(each.ratio > given.limit for each in found))


if __name__ == "__main__":
    main()

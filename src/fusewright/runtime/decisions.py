"""Codes of the planner's decisions: why two steps, or two loops, became one or stayed apart.

The planner says why in a sentence with the numbers of the case; `code_of` finds the class that the
sentence belongs to.  `fusewright help FW404` prints the page of a code; all are in `docs/errors/`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class DecisionClass(NamedTuple):
    """A class of decisions: what it means, what a user can do, and a program whose plan has one.

    `says` is a regular expression that the planner's sentence matches from its first character.
    """

    title: str
    cause: str
    mend: str
    says: str
    program: str


_ARRAYS = "import numpy\n\nimport fusewright as fw\nimport fusewright.numpy as np\n\n"
_LOOPS = "import numpy\n\nimport fusewright as fw\n\n\n@fw.kernel\n"
_SQUARE = "x = fw.asarray(numpy.ones((1000, 1000)))\n"

FUSED = "FW400"
UNNAMED = "FW409"
KINDS: dict[str, DecisionClass] = {
    FUSED: DecisionClass(
        "Fused",
        "The two run as one: what passes between them stays in registers or in the cache.",
        "Nothing: this is what should happen.",
        "",
        _ARRAYS + _SQUARE + "print(fw.explain(x / x.sum(axis=1, keepdims=True)))\n",
    ),
    "FW401": DecisionClass(
        "The second loop needs what the first has not computed yet",
        "In one loop an element would be read before it is written, or overwritten before it is "
        "read: the result would be another. The message gives the smallest such case.",
        "Let both loops work on the same index, or write to an array of its own. Where the message "
        'says `legal with level=shift`, `fw.options(fuse_level="shift")` lets the second loop run '
        "behind the first.",
        r"(read after write|write after read|write after write|order) of |legal with level",
        _LOOPS + "def last_first(a, b):\n    n = len(a)\n    for i in range(n):\n"
        "        a[i] = 2.0 * a[i]\n    for i in range(n):\n        b[i] = a[n - 1 - i]\n\n\n"
        "last_first(numpy.ones(1000), numpy.ones(1000))\nprint(last_first.explain())\n",
    ),
    "FW402": DecisionClass(
        "Nothing could be proved within the time allowed",
        "The question whether the loops may fuse has an answer, but finding it would take longer "
        "than compiling may take.",
        "Simpler indices: sums of loop variables and numbers are decided at once.",
        r"`[^`]*`: nothing proved",
        _LOOPS + "def folded(a, b):\n    n = len(b)\n    for i in range(n):\n"
        "        a[(3 * i + 5 * (i // 7)) // 4 % 11 + (i + 2 * (i // 9)) // 3 % 7] = i\n"
        "    for i in range(n):\n"
        "        b[i] = a[(7 * i + 3 * (i // 4)) // 6 % 13 + (i + i // 3) // 7 % 5]\n\n\n"
        "folded(numpy.ones(20), numpy.ones(1000))\nprint(folded.explain())\n",
    ),
    "FW403": DecisionClass(
        "The steps run over different index ranges",
        "One loop computes both only where they walk through the same leading dims in step.",
        "Give both the same first extent, or compute the smaller one beforehand.",
        r"their (first dims are|iteration spaces have)|they agree on no"
        r"|one of them is a single value",
        _ARRAYS + _SQUARE + "sums = np.cumsum(x, axis=1)\n"
        "print(fw.explain(np.cumsum(sums[5:], axis=1)))\n",
    ),
    "FW404": DecisionClass(
        "A reduction or a scan must be complete first",
        "Every later element depends on all of the earlier loop, as `x / x.sum()` does: the sum is "
        "known at the end of its loop, not before.",
        "Nothing, where the formula needs the whole result first: the array is read twice. A "
        "reduction along the last axis (`x / x.sum(axis=-1, keepdims=True)`) is complete after "
        "each row, and fuses with what follows. In a loop of `@fw.kernel`, what does not need the "
        "result can stand in the loop that computes it.",
        r"the reduction must be|two reductions over|a scan along|a reduction's blocks|it runs along"
        r"|`[^`]*` goes from one",
        _ARRAYS + "x = fw.asarray(numpy.ones(1_000_000))\nprint(fw.explain(x / x.sum()))\n",
    ),
    "FW405": DecisionClass(
        "It would cost more than it saves",
        "One loop would lose its threads or its vectors, write to too many arrays at once, or have "
        "a body that no longer fits the registers. Of products of matrices: what passes between "
        "them stays in the caches anyway, or takes little time beside the multiplications.",
        "Nothing: apart is faster. `@fw.kernel(fuse=True)` fuses all that is legal nevertheless.",
        r"skipped by cost|what its steps exchange",
        _LOOPS + "def double(a, b):\n    for i in range(len(a)):\n        a[i] = 2.0 * a[i]\n"
        "    for i in range(1, len(a)):\n        b[i] = b[i - 1] * a[i]\n\n\n"
        "double(numpy.ones(1000), numpy.ones(1000))\nprint(double.explain())\n",
    ),
    "FW406": DecisionClass(
        "The kernel is as large as one may be",
        "The time that compiling takes grows with a kernel: from a size on, two are better.",
        "Nothing; the next statements fuse in a kernel of their own.",
        r"a kernel of more than|more than \d+ (loops|operations) in one",
        _ARRAYS + _SQUARE + "for _ in range(40):\n    x = np.cumsum(x, axis=1)\n"
        "print(fw.explain(x))\n",
    ),
    "FW407": DecisionClass(
        "What passes between the steps would not stay in the cache",
        "Fusing saves memory traffic while rows stay in the cache and the number of arrays that "
        "are read or written at once is small; beyond that it costs.",
        "Shorter rows (a last dim of fewer elements), or fewer arrays in one expression.",
        r"its rows \(|more than \d+ (stages in one pass|arrays would be)",
        _ARRAYS + "arrays = [fw.asarray(numpy.ones((100, 100))) for _ in range(60)]\n"
        "sums = np.cumsum(sum(arrays[:30]), axis=1)\n"
        "print(fw.explain(np.cumsum(sum(arrays[30:], sums), axis=1)))\n",
    ),
    "FW408": DecisionClass(
        "A setting does not allow it",
        "`fuse_level` says how far fusing may go: `disjoint`, `same`, `dims`, `shift`, `overlap`.",
        "Choose a higher level for the block: `with fw.options(fuse_level=...)`.",
        r"the setting ",
        _LOOPS + "def double(a, b):\n    for i in range(len(a)):\n        a[i] = 2.0 * a[i]\n"
        "    for i in range(len(a)):\n        b[i] = a[i] + 1.0\n\n\n"
        'with fw.options(fuse_level="disjoint"):\n'
        "    double(numpy.ones(1000), numpy.ones(1000))\n    print(double.explain())\n",
    ),
    UNNAMED: DecisionClass(
        "Another reason",
        "Nothing is gained by one loop, or no other class describes why the two stay apart.",
        "The sentence beside the code says what is known.",
        "",
        "",
    ),
    "FW410": DecisionClass(
        "A step reads the other one's rows elsewhere",
        "In one loop a row of the first step is computed just before the second one needs it. That "
        "works where the second reads the same row, or one that is a fixed number of rows away. "
        "`np.roll` also reads the row at the other end, a gather reads any, a transposed array "
        "each of them at once; and a running sum cannot wait for rows further on.",
        "Where the wrap-around of `np.roll` only serves the border, write the inside with slices "
        "(`u[2:] - u[:-2]`) and the border by itself. Otherwise nothing: the first is complete "
        "when the second begins.",
        r"the second reads rows of the first|a value read at a distance",
        _ARRAYS + _SQUARE + "sums = np.cumsum(x, axis=1)\n"
        "print(fw.explain(np.cumsum(np.roll(sums, 1, axis=0), axis=1)))\n",
    ),
}  # fmt: skip


@lru_cache(maxsize=1024)
def code_of(fused: bool, why: str) -> str:
    """The code of a decision, by the planner's sentence."""
    if fused:
        return FUSED
    named = ((code, kind.says) for code, kind in KINDS.items() if kind.says)
    return next((code for code, says in named if re.match(says, why)), UNNAMED)


def page_link(code: str) -> str:
    """HTML of a code that shows the page's heading and advice where the pointer rests on it."""
    kind = KINDS[code]
    from html import escape  # here, for few programs write a page

    return f'<abbr title="{escape(f"{kind.title}. {kind.mend}", quote=True)}">{code}</abbr>'

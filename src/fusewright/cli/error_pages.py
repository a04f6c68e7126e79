"""What `fusewright help FW101` says: of each code the cause, what to do, a program that meets it.

The pages under `docs/errors/` are made of these and of what the programs print
(`tools/error_pages.py`).
"""

from __future__ import annotations

from typing import NamedTuple

from fusewright.runtime.decisions import KINDS


class Page(NamedTuple):
    """One code; `program` is empty where no program meets the error on every machine."""

    title: str
    cause: str
    mend: str
    program: str = ""


_NUMPY = "import fusewright.numpy as np\n\n"
_FAMILY = "import fusewright as fw\n\n\n"
_KERNEL = "import numpy as np\n\nimport fusewright as fw\n\n\n@fw.kernel\n"

PAGES: dict[str, Page] = {
    "FW100": Page(
        "An error that the user can mend",
        "Every error of Fusewright derives from `FusewrightError`; this is the code of the class "
        "itself, for `except fw.FusewrightError`.",
        "Look at the code of the error that was raised.",
    ),
    "FW101": Page(
        "Shapes that do not fit together",
        "The shapes are aligned at the right; two extents fit where they are equal or one of them "
        "is 1. The same error is raised for a shape that something cannot have.",
        "Insert axes of extent 1 with `x[:, None]`, or look for the array of the wrong length.",
        _NUMPY + "prices = np.ones((3000, 4))\nweights = np.ones(3)\nprint(prices * weights)\n",
    ),
    "FW102": Page(
        "An element type that an operation does not take",
        "NumPy does not define the operation for these types, or would not store the result in "
        "elements of the type that is written to.",
        "Convert with `x.astype(...)` first.",
        _NUMPY + "a = np.ones(1000)\nprint(a & a)\n",
    ),
    "FW103": Page(
        "An argument with a value that makes no sense",
        "The argument has the right type, but no meaning with this value.",
        "The message names the values that are right.",
        _NUMPY + 'a = np.ones(1000)\nprint(a.sum(axis=(0, 0)))\n',
    ),
    "FW104": Page(
        "An argument of the wrong type, missing, or too many",
        "The call does not fit the function's signature.",
        "Compare it with the signature: `help(function)`.",
        "import numpy as np\n\nimport fusewright as fw\n\n\n@fw.kernel\ndef fill(a, x):\n"
        "    a[:] = x\n\n\nfill(np.ones(3))\n",
    ),
    "FW105": Page(
        "A Python integer that the element type cannot hold",
        "A Python number takes the type of the array beside it, and 300 is no int8.",
        "Convert the array first, `a.astype(int) + 300`, or write the number as `np.int64(300)`.",
        _NUMPY + 'a = np.zeros(1000, dtype="int8")\nprint(a + 300)\n',
    ),
    "FW106": Page(
        "An index outside the array",
        "Indices run from 0 to n - 1, or from -n to -1; an index is an integer, a slice, a mask of "
        "the same shape or an array of integers.",
        "Look at the array's shape where the error points.",
        _NUMPY + "a = np.zeros(1000)\nprint(a[1000])\n",
    ),
    "FW107": Page(
        "An axis that the array does not have",
        "An array of n dims has the axes 0 to n - 1, or -n to -1.",
        "Look at the array's `ndim`.",
        _NUMPY + "a = np.zeros((1000, 3))\nprint(a.sum(axis=2))\n",
    ),
    "FW108": Page(
        "A write into an array that may not be written",
        "It is a broadcast view, whose elements share one place, or it has been set read-only.",
        "Write into a copy: `a = a.copy()`.",
        _NUMPY + "a = np.broadcast_to(np.arange(1000.0), (2, 1000))\na[0] = 1\n",
    ),
    "FW109": Page(
        "An allocation that failed",
        "The system has no memory of this size, or a limit of the process (`ulimit -v`, a "
        "container) stands before it.",
        "Work on smaller parts, or on a smaller element type; `fw.options(memory_limit=0)` keeps "
        "no freed memory.",
        "import fusewright as fw\n" + _NUMPY + "x = np.ones(10_000_000)\n"
        "fw.evaluate(x[:, None] - x)\n",
    ),
    "FW110": Page(
        "Something that NumPy or Python can do and Fusewright cannot",
        "The message names it. In a kernel: the language of kernels has loops, branches, numbers, "
        "arrays, tuples and lists; see the page on kernels.",
        "The message says what to write instead.",
        _KERNEL + "def first(a):\n    try:\n        return a[0]\n    except IndexError:\n"
        "        return 0.0\n\n\nfirst(np.ones(3))\n",
    ),
    "FW111": Page(
        "Under `strict`: a step that would not be compiled",
        "`fw.options(strict=True)` (`--strict`) makes an error of what would be left to NumPy but "
        "the library steps that the page on NumPy's names lists (products, linear algebra, FFT, "
        "sorting, selecting, random numbers); `strict=\"all\"` (`--strict=all`) of those, too.",
        "Write it with operations that are compiled (the same page lists them), or leave out "
        "`strict`: the step then runs as NumPy's own.",
        "import fusewright as fw\nimport fusewright.numpy as np\n\na = np.ones(100_000)\n"
        "with fw.options(strict=True):\n    print(np.apply_along_axis(sum, 0, a))\n",
    ),
    "FW112": Page(
        "The system refuses memory that holds code",
        "Compiled code needs pages that are executable; hardened systems can forbid them.",
        "`fw.options(target=\"reference\")` runs without compiled code; `fusewright doctor` says "
        "what is forbidden.",
    ),
    "FW113": Page(
        "An option that does not exist, or a value it cannot have",
        "`fw.options` takes the settings that `fusewright help options` lists.",
        "The message lists what is allowed.",
        "import fusewright as fw\n\nwith fw.options(thread=1):\n    pass\n",
    ),
    "FW114": Page(
        "Vector instructions that this processor does not have",
        '`fw.options(features="avx512")` asks for instructions that are missing here.',
        'Leave it at "auto".',
        "from fusewright.targets.cpu.features import select\n\n"
        'select("avx512", flags=["avx2", "fma"])  # what a processor without AVX-512 says it has\n',
    ),
    "FW115": Page(
        "The folder of compiled code cannot be emptied",
        "`fusewright cache clear` met files that it may not remove.",
        "Look at who owns the folder (`fusewright cache path`), or name another one with "
        "FUSEWRIGHT_CACHE_DIR.",
    ),
    "FW116": Page(
        "A variable of the environment that is wrong",
        "A variable that begins with FUSEWRIGHT_ names no setting, or its value is none that the "
        "setting can have. Every command refuses both; a program that imports Fusewright gets a "
        "warning for the first.",
        "`fusewright help options` lists the variables and their values; `unset` removes one.",
        'import os\n\nos.environ["FUSEWRIGHT_THREADS"] = "two"\n\n'
        "from fusewright.base.options import from_environment\n\nfrom_environment(os.environ)\n",
    ),
    "FW117": Page(
        "A name that stands in a module beside NumPy's",
        "NumPy itself does not have these functions, so the drop-in's main namespace has none of "
        "them either: a program finds the same names with both.",
        "Write `np.special.gamma` with `import fusewright.numpy as np`, or "
        "`from fusewright.numpy import special`.",
        "import fusewright.numpy as np\n\nprint(np.gamma(0.5))\n",
    ),
    "FW200": Page(
        "A kernel that makes no sense",
        "The general error of kernels, where none of the other codes fits.",
        "The message says what is wrong and what to write.",
        "import fusewright as fw\n\n\n@fw.kernel\ndef squares(n):\n    found = []\n"
        "    for i in range(n):\n        found.append(i * i)\n        print(i)\n    return found\n"
        "\n\nsquares(3)\n",
    ),
    "FW201": Page(
        "A name that may have no value where it is read",
        "It is assigned on some paths only: in one branch, or in a loop that may not run at all.",
        "Assign it before the branch or the loop.",
        _KERNEL + "def last(a):\n    if a[0] > 0:\n        b = a[1:]\n    return b[0]\n\n\n"
        "last(np.ones(3))\n",
    ),
    "FW202": Page(
        "A division by zero",
        "Under `check=True` a kernel raises where Python's numbers would; without it such a "
        "quotient is inf or nan, or for integers 0.",
        "Test the divisor: `if d != 0: ...`.",
        _KERNEL + "def share(a, n):\n    a[0] = 7 % n\n\n\nwith fw.options(check=True):\n"
        "    share(np.ones(3, dtype=int), 0)\n",
    ),
    "FW203": Page(
        "An `assert` of a kernel that does not hold",
        "Under `check=True` a kernel's assertions are tested; those that are known when it is "
        "compiled are tested then.",
        "Mend what the assertion is about.",
        _KERNEL + 'def root(a):\n    for x in a:\n        assert x >= 0, "no real root"\n\n\n'
        "with fw.options(check=True):\n    root(np.array([1.0, -1.0]))\n",
    ),
    "FW204": Page(
        "A name or an attribute that a kernel does not find",
        "Names are looked up as in Python: assignments, arguments, globals, built-ins.",
        "Assign or import it, or pass it as an argument.",
        _KERNEL + "def scale(a):\n    for i in range(len(a)):\n        a[i] *= factor\n\n\n"
        "scale(np.ones(3))\n",
    ),
    "FW205": Page(
        "Numbers whose types an operation does not take",
        "The types in a kernel are decided when it is compiled. Where Python's own result would "
        "have one type or another as the values are, the kernel is refused.",
        "Convert with `int()`, `float()` or `np.float64()`, or write a literal.",
        _KERNEL
        + "def either(a, n):\n    a[0] = 1 + (n if a[1] > 0 else 0.5)\n\n\neither(np.ones(3), 3)\n",
    ),
    "FW206": Page(
        "A name that is one thing on one path and another on another",
        "After a branch or a loop a name stands for one thing: a number, or one array. Where a "
        "branch leaves it with different ones, what follows is compiled for each path; that cannot "
        "be done where the next iteration of a loop follows, or where the choice stands inside an "
        "expression.",
        "Give it the same kind on both paths, or two names; write a choice inside an expression as "
        "an assignment of its own.",
        _KERNEL + "def choose(a, b, n):\n    return (a if n > 0 else b).sum()\n\n\n"
        "choose(np.ones(3), np.ones((3, 3)), 1)\n",
    ),
    "FW207": Page(
        "A call with arguments it does not take",
        "Of a kernel, or in one: their number, their names or their values do not fit.",
        "The message names what is taken.",
        _KERNEL + "def fill(a):\n    for i in range(0, len(a), 0):\n        a[i] = i\n\n\n"
        "fill(np.ones(3))\n",
    ),
    "FW208": Page(
        "An index or a part of an array that a kernel cannot have",
        "More indices than dims, an index that is no integer, or a part of another shape.",
        "Convert the index with `int()`, or write as many indices as the array has dims.",
        _KERNEL + "def middle(a):\n    a[len(a) / 2] = 1.0\n\n\nmiddle(np.ones(3))\n",
    ),
    "FW209": Page(
        "An array that a kernel cannot make, keep or change in place",
        "New arrays are allocated before a kernel runs, so their sizes follow from arguments and "
        "shapes; arrays computed element by element have no memory of their own.",
        "The message says which way there is: a size from the arguments, `np.empty_like`, a loop.",
        _KERNEL + "def changes(a):\n    return np.diff(a > 0)\n\n\nchanges(np.ones(3))\n",
    ),
    "FW210": Page(
        "A list that mixes kinds, or changes under its own loop",
        "A list is kept as arrays of numbers: all its items are of one kind, and a loop over it "
        "runs as often as it is long when the loop begins.",
        "Keep one list for each kind; collect what is found in another list.",
        _KERNEL + "def grow(a):\n    found = [a[0]]\n    for x in found:\n"
        "        found.append(x)\n    return found\n\n\ngrow(np.ones(3))\n",
    ),
    "FW211": Page(
        "A sum, mean or product whose order or type is not fixed",
        "Kernels have NumPy's order of adding, to the bit. Where it depends on how an array lies "
        "in memory, or where NumPy has no order for the type, the reduction is refused.",
        "Write the loop: its order is then yours.",
        _KERNEL + "def largest(z):\n    return np.max(z)\n\n\nlargest(np.ones(3) * 1j)\n",
    ),
    "FW212": Page(
        "A value that a kernel cannot return",
        "A kernel returns numbers, arrays, lists and tuples of them.",
        "Return the numbers, and make the object around the call.",
        _KERNEL + "def outer(a):\n    return range(3)\n\n\nouter(np.ones(3))\n",
    ),
    "FW213": Page(
        "A write into memory that still has to be read",
        "Two arguments share memory, and the kernel writes to one where it reads the other: NumPy "
        "would have copied first.",
        "Pass a copy of the one that is read.",
        _KERNEL + "def shift(a, b):\n    a[1:] = b[:-1]\n\n\nx = np.arange(5.0)\nshift(x, x[:])\n",
    ),
    "FW300": Page(
        "A family of recurrence relations that makes no sense",
        "The general error of `fw.recurrence`, where none of the other codes fits: an index of the "
        "wrong length, a term that is none, a family that is not among those given.",
        "The message names the family and the index.",
        _FAMILY + """def relation(n):
    return [[("x", "T", n - 1, 2)]]


T = fw.Family("T", "n", relation, leaf=lambda n: 1.0 if n == 0 else None)
fw.recurrence([(T, 3)], [T], ["x"])
""",
    ),
    "FW301": Page(
        "A recurrence relation that leads back to where it began",
        "Every alternative must come closer to a leaf, also those that are not chosen in the end.",
        "The message shows the way round. Leave the alternative out where it raises an index that "
        "another one lowers.",
        _FAMILY + """def relation(n):
    return [[("x", "T", n - 1)], [("y", "T", n + 1)]]


T = fw.Family("T", "n", relation, leaf=lambda n: 1.0 if n == 0 else None)
fw.recurrence([(T, 3)], [T], ["x", "y"])
""",
    ),
    "FW302": Page(
        "A value that is no leaf and has no alternative",
        "The relations lead to an index that the family says nothing about, such as one below 0.",
        "Let `leaf` give it a name or a number (0 where a term has no part), or leave out the term "
        "that reads it.",
        _FAMILY + """def relation(n):
    return [[("x", "T", n - 1), (-1, "T", n - 2)]] if n > 0 else []


T = fw.Family("T", "n", relation, leaf=lambda n: 1.0 if n == 0 else None)
fw.recurrence([(T, 3)], [T], ["x"])
""",
    ),
    "FW303": Page(
        "A coefficient that is neither a finite number nor a scalar",
        "Coefficients are numbers, names of scalars, and tuples of such, which are products.",
        "Add the name to `scalars`, or write the number.",
        _FAMILY + """def relation(n):
    return [[((2, "X"), "T", n - 1)]]


T = fw.Family("T", "n", relation, leaf=lambda n: 1.0 if n == 0 else None)
fw.recurrence([(T, 3)], [T], ["x"])
""",
    ),
    "FW304": Page(
        "A linear map whose matrix does not fit",
        "The matrix of a `LinearMap` has a row for each value of its own and a column for each "
        "component that it reads.",
        "Compare the matrix's shape with `columns`, and the index with its rows.",
        "import fusewright as fw\n\nfw.LinearMap("
        '"S", "T", [[1.0, 0.0], [0.0, 1.0]], axis=0, columns=["x", "y", "z"])\n',
    ),
    "FW305": Page(
        "Recurrence relations that need too many values",
        "Code without loops has at most a million statements. Mostly an index grows without end.",
        "The message says which target grows, and how. Look whether its relations come closer to a "
        "leaf, or ask for smaller indices.",
    ),
    "FW900": Page(
        "A bug in Fusewright",
        "`InternalError` is what only we can mend.",
        "Please report it with the program; `fw.options(fuse=False)`, or "
        '`fw.options(target="reference")`, may get round it.',
    ),
}  # fmt: skip

DECISIONS = {
    code: Page(kind.title, kind.cause, kind.mend, kind.program) for code, kind in KINDS.items()
}
"""Codes of what the planner decided: no errors, but with pages beside theirs."""

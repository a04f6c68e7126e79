# ruff: noqa: E501
"""Random kernels as people write them for just-in-time compilers: arrays made inside and returned,
tables, sweeps that depend on the one before, searches, sorts, stacks, swaps, early ends.  Every index
is in bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.edges import at_the_edge
from tests.properties import chance

SIZES = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130, 257, 1000)
MATRICES = (
    (1, 1),
    (2, 3),
    (3, 2),
    (5, 5),
    (4, 9),
    (9, 4),
    (8, 16),
    (17, 17),
    (3, 65),
    (65, 3),
    (20, 33),
)
HEADER = "import math\nimport numpy as np\nimport fusewright as fw\n\n\n@fw.kernel\ndef kernel(x, y, z, u, w, h, b, m, k, n, r):\n"
MADE = (
    "{t} = np.zeros({s})", "{t} = np.zeros({s}, dtype=np.int64)", "{t} = np.ones({s})", "{t} = np.full({s}, {v})", "{t} = np.zeros_like(x)", "{t} = x.copy()",
    "{t} = np.empty_like(y)\nfor {i} in range({t}.shape[0]):\n    {t}[{i}] = {e}", "{t} = np.empty({s})\nfor {i} in range(len({t})):\n    {t}[{i}] = {i} * {v}",
    "{t} = u.copy()", "{t} = np.arange({s})", "{t} = np.zeros({s}, dtype=np.float32)", "{t} = x[1:] - x[:-1]", "{t} = np.zeros({s}, dtype=np.bool_)", "{t} = z.copy()", "{t} = x * {v}", "{t} = m[0].copy()", "{t} = x[::-1].copy()",
    "{t} = np.zeros({s}, dtype=np.int32)", "{t} = m[:, 0].copy()",
)  # fmt: skip
SNIPPETS = (
    "for {i} in range({a}.shape[0]):\n    {a}[{i}] = {e}", "for {i} in range(1, {a}.shape[0]):\n    {a}[{i}] = {a}[{i} - 1] + {e}", "for {i} in range({a}.shape[0] - 2, -1, -1):\n    {a}[{i}] = {a}[{i} + 1] * 0.5 + {e}",
    "for {i} in range({a}.shape[0]):\n    if {c}:\n        {a}[{i}] += {v}\n    else:\n        {a}[{i}] -= {e}", "for {i} in range(u.shape[0]):\n    {a}[abs(u[{i}]) % len({a})] += 1", "for {i} in range(u.shape[0]):\n    {a}[(u[{i}] * 7 + {i}) % len({a})] = {e}",
    "for {i} in range(1, {a}.shape[0] - 1):\n    {a}[{i}] = 0.25 * ({a}[{i} - 1] + {a}[{i} + 1]) + {e}", "for {i} in range(1, {a}.shape[0] - 1):\n    {o}[{i} % len({o})] = {a}[{i} - 1] - 2 * {a}[{i}] + {a}[{i} + 1]",
    "{q} = 0\nwhile {q} < {a}.shape[0] and {a}[{q}] < {v}:\n    {q} += 1", "{q} = 0\n{p} = {a}.shape[0] - 1\nwhile {q} < {p}:\n    {a}[{q}], {a}[{p}] = {a}[{p}], {a}[{q}]\n    {q} += 1\n    {p} -= 1",
    "{q} = 0\n{p} = len({a})\nwhile {q} < {p}:\n    {d} = ({q} + {p}) // 2\n    if {a}[{d}] < {v}:\n        {q} = {d} + 1\n    else:\n        {p} = {d}",
    "for {i} in range(1, min(len({a}), 40)):\n    {d} = {a}[{i}]\n    {j} = {i} - 1\n    while {j} >= 0 and {a}[{j}] > {d}:\n        {a}[{j} + 1] = {a}[{j}]\n        {j} -= 1\n    {a}[{j} + 1] = {d}",
    "for {i} in range(min(len({a}), 20)):\n    for {j} in range(min(len({a}), 20) - 1 - {i}):\n        if {a}[{j}] > {a}[{j} + 1]:\n            {d} = {a}[{j}]\n            {a}[{j}] = {a}[{j} + 1]\n            {a}[{j} + 1] = {d}",
    "{q} = 0\nfor {i} in range(1, len({a})):\n    if {a}[{i}] > {a}[{q}]:\n        {q} = {i}\n{A} += {q}", "{d} = {a}[0]\nfor {i} in range(len({a})):\n    {d} = max({d}, {a}[{i}])\n    {o}[{i} % len({o})] = {d}", "for {i} in range(len({a})):\n    {A} += {a}[{i}] * {v}",
    "for {i} in range(len({a})):\n    if {c}:\n        break\n    {A} += {e}", "for {i} in range(len({a})):\n    if {c}:\n        continue\n    {a}[{i}] = {v}", "{q} = 0\nfor {i} in range(len({a})):\n    if {c}:\n        {o}[{q} % len({o})] = {a}[{i}]\n        {q} += 1\n{A} += {q}",
    "for {i} in range(m.shape[0]):\n    for {j} in range(m.shape[1]):\n        m[{i}, {j}] = {f}", "for {i} in range(1, m.shape[0]):\n    for {j} in range(1, m.shape[1]):\n        m[{i}, {j}] = min(m[{i} - 1, {j}], m[{i}, {j} - 1], m[{i} - 1, {j} - 1]) + {f}",
    "for {j} in range(m.shape[1]):\n    {d} = 0.0\n    for {i} in range(m.shape[0]):\n        {d} += {f}\n    {o}[{j} % len({o})] = {d}", "for {i} in range(m.shape[0]):\n    for {j} in range({i}, m.shape[1]):\n        m[{i}, {j}] -= {f}", "for {i} in range(m.shape[0]):\n    for {j} in range({i}):\n        if {j} < m.shape[1]:\n            m[{i}, {j}] *= {v}",
    "{T} = np.zeros((m.shape[0] + 1, m.shape[1] + 1))\nfor {i} in range(1, {T}.shape[0]):\n    for {j} in range(1, {T}.shape[1]):\n        if m[{i} - 1, {j} - 1] > {v}:\n            {T}[{i}, {j}] = {T}[{i} - 1, {j} - 1] + 1\n        else:\n            {T}[{i}, {j}] = max({T}[{i} - 1, {j}], {T}[{i}, {j} - 1])\n{A} += {T}[m.shape[0], m.shape[1]]",
    "{T} = np.zeros((m.shape[1], m.shape[1]))\nfor {i} in range(m.shape[1]):\n    for {j} in range(m.shape[1]):\n        for {l} in range(m.shape[0]):\n            {T}[{i}, {j}] += m[{l}, {i}] * m[{l}, {j}]\nfor {i} in range(m.shape[1]):\n    {A} += {T}[{i}, {i}]",
    "{T} = abs(m) + 1\nfor {l} in range(min({T}.shape)):\n    for {i} in range({T}.shape[0]):\n        for {j} in range({T}.shape[1]):\n            {d} = {T}[{i}, {l}] + {T}[{l}, {j}]\n            if {d} < {T}[{i}, {j}]:\n                {T}[{i}, {j}] = {d}\n{A} += {T}[0, 0]",
    "{T} = m.copy()\n{S} = np.zeros_like(m)\nfor {l} in range({N}):\n    for {i} in range(1, m.shape[0] - 1):\n        for {j} in range(1, m.shape[1] - 1):\n            {S}[{i}, {j}] = 0.25 * ({T}[{i} - 1, {j}] + {T}[{i} + 1, {j}] + {T}[{i}, {j} - 1] + {T}[{i}, {j} + 1])\n    {T}, {S} = {S}, {T}\nfor {i} in range(m.shape[0]):\n    m[{i}, 0] += {T}[{i}, m.shape[1] - 1]",
    "{T} = np.ones({s}, dtype=np.bool_)\nfor {i} in range(2, len({T})):\n    if {T}[{i}]:\n        for {j} in range({i} * {i}, len({T}), {i}):\n            {T}[{j}] = False\nfor {i} in range(len({T})):\n    if {T}[{i}]:\n        {A} += {i}",
    "{T} = np.zeros(len(u) + 2, dtype=np.int64)\n{q} = 1\n{p} = 0\nwhile {q} > 0 and {p} < 200:\n    {q} -= 1\n    {d} = {T}[{q}]\n    {p} += 1\n    if {d} < len(u) // 2:\n        {T}[{q}] = {d} * 2 + 1\n        {q} += 1\n        if {p} % 3 == 0 and {q} < len({T}):\n            {T}[{q}] = {d} + 1\n            {q} += 1\n    {A} += {d}",
    "for {l} in range({N}):\n    for {i} in range(len({a})):\n        {a}[{i}] = {a}[{i}] * 0.5 + {e}", "for {l} in range({N}):\n    for {i} in range({l}, len({a})):\n        {a}[{i}] -= {a}[{i} - {l}] * {v}", "for {l} in range({N}):\n    {d} = 0\n    for {i} in range(len(u)):\n        if u[{i}] % {N} == {l}:\n            {d} += 1\n    {A} += {d} * {l}",
    "{q} = 1\nwhile {q} < len({a}):\n    for {i} in range(0, len({a}) - {q}, {q} * 2):\n        {a}[{i}] += {a}[{i} + {q}]\n    {q} *= 2", "{q} = n * 7 + 3\n{p} = 0\nwhile {q} != 1 and {p} < 100:\n    {q} = {q} // 2 if {q} % 2 == 0 else 3 * {q} + 1\n    {p} += 1\n{A} += {p}",
    "{p}, {q} = len(u) + n, 12\nwhile {q}:\n    {p}, {q} = {q}, {p} % {q}\n{A} += {p}", "{a}[:] = {v}", "{a}[1:] = {a}[:-1]", "{a}[{g}] = {v}", "x[:] = y * {v} + x", "{A} += np.sum({a})", "{A} += {a}.max() - {a}.min()", "m[:, 0] = m[:, -1]", "m[0] += m[-1]", "m[:] = m * {v}",
    "for {i} in range(len(b)):\n    b[{i}] = {c}", "for {i} in range(len(w)):\n    w[{i}] = (w[{i}] * 3 + {i}) % 1000 - 400", "for {i} in range(len(h)):\n    h[{i}] = (h[{i}] >> 1) ^ ({i} & 15)", "for {i} in range(1, len(u)):\n    u[{i}] = (u[{i} - 1] ^ u[{i}]) & 1023", "for {i} in range(len(u)):\n    u[{i}] = (u[{i}] << 2) // (abs(u[{i} - 1]) + 1)", "for {i} in range(len(z)):\n    z[{i}] = {e}",
    "for {i} in range(k.shape[0]):\n    for {j} in range(k.shape[1]):\n        k[{i}, {j}] = (k[{i}, {j}] * {i} - {j}) % 17", "for {j} in range(k.shape[1]):\n    for {i} in range(1, k.shape[0]):\n        k[{i}, {j}] += k[{i} - 1, {j}]", "for {i} in range(k.shape[0]):\n    for {j} in range(k.shape[1]):\n        if k[{i}, {j}] < 0:\n            break\n        {A} += k[{i}, {j}]",
    "{A} += {C}", "if {C} > {v}:\n    for {i} in range(len({a})):\n        {a}[{i}] = {e}\nelse:\n    {A} -= 1", "{T} = np.argsort(x)\nfor {i} in range(len(x)):\n    y[{i}] = x[{T}[{i}]]", "{T} = np.sort(y)\n{A} += {T}[len(y) // 2] + np.searchsorted({T}, {v})", "{T} = x.copy()\n{T}.sort()\nfor {i} in range(len(x)):\n    {A} += {T}[{i}] * {i}",
    "for {i} in range(len({a}) - 1):\n    {d} = {a}[{i}]\n    for {j} in range({i} + 1, min({i} + {N}, len({a}))):\n        {d} = max({d}, {a}[{j}])\n    {a}[{i}] = {d}", "{d} = 1.0\nfor {i} in range(len({a})):\n    {d} = {d} * 0.5 + {a}[{i}]\n    if abs({d}) > 50:\n        {d} = 0.0\n    {a}[{i}] = {d}",
    "for {i} in range(0, len({a}) - 1, 2):\n    {a}[{i}], {a}[{i} + 1] = {a}[{i} + 1], {a}[{i}]", "for {i} in range(len({a})):\n    {a}[{i}] = {a}[len({a}) - 1 - {i}]", "for {i}, {d} in enumerate(x):\n    {o}[{i} % len({o})] += {d}", "for {d} in y:\n    if {d} > 0:\n        {A} += {d}", "for {i} in range(len({a})):\n    {d} = int(u[{i} % len(u)]) % len({a})\n    {a}[{i}], {a}[{d}] = {a}[{d}], {a}[{i}]",
    "assert len({a}) > 0", "if len({a}) > 5000:\n    raise ValueError('too long')", "{T} = [0.0, 1.0, {v}]\nfor {i} in range(len({a})):\n    {a}[{i}] += {T}[{i} % 3]", "for {T} in (x, y):\n    {A} += {T}[0]", "{A} = {A} % 1000",
)  # fmt: skip
ELEMENTS = (
    "x[{i} % len(x)]", "y[{i} % len(y)]", "z[{i} % len(z)]", "u[{i} % len(u)]", "w[{i} % len(w)]", "h[{i} % len(h)]", "x[-1 - {i} % len(x)]", "y[({i} * 3 + 1) % len(y)]", "m[{i} % m.shape[0], 0]", "m[0, {i} % m.shape[1]]", "k[{i} % k.shape[0], -1]", "{i}", "x[{i} % len(x)]", "y[{i} % len(y)]",
    "{a}[{i} % len({a})]", "{o}[{i} % len({o})]", "x[u[{i} % len(u)] % len(x)]", "r", "n", "0.5", "2",
)  # fmt: skip
OF_TWO = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} * 0.25 + {1})", "max({0}, {1})", "min({0}, {1})", "({0} / (abs({1}) + 1))", "abs({0} - {1})", "({0} if {0} > {1} else {1})", "math.sqrt(abs({0}))", "math.floor({0})", "({0} // (abs({1}) + 1.5))", "({0} % 3)", "(-{0})", "float({0})", "({0} - 1)", "np.sqrt(abs({0}))", "float({0} > {1})",
    "({0} ** 2)", "np.floor({0} * 2)", "(0.0 if {0} < {1} else {0})", "int({0}) % 7", "np.abs({0})", "np.minimum({0}, {1})",
)  # fmt: skip


class Writer(chance.Writer):
    """One kernel being made up."""

    def source(self) -> str:
        """The module."""
        self.tables = ["x", "y", "x", "y", "u", "z"]
        self.returned: list[str] = []
        self.sums: list[str] = []
        self.put(1, "total = 0.0")
        self.put(1, "count = 0")
        for _ in range(self.draw(0, 3)):
            self.make()
        for _ in range(self.budget):
            self.lines += ["    " + line for line in self.filled(self.pick(*SNIPPETS)).split("\n")]
            if self.draw(0, 6) == 0:
                self.make()
        results = [
            "float(total)",
            "float(count)",
            *(each for each in self.returned if self.draw(0, 1)),
        ]
        self.put(1, f"return {', '.join(results)}")
        return HEADER + "\n".join(self.lines) + "\n"

    def make(self) -> None:
        """A new array."""
        self.count += 1
        name = f"t{self.count}"
        text = self.filled(self.pick(*MADE), name)
        self.lines += ["    " + line for line in text.split("\n")]
        if "np.bool_" not in text:
            self.tables += [name, name]
        self.returned.append(name)

    def filled(self, template: str, name: str = "") -> str:
        self.count += 1
        number = self.count
        words = {
            "a": self.pick(*self.tables), "o": self.pick(*self.tables), "A": self.pick("total", "total", "count"), "t": name,
            "N": str(self.draw(2, 6)), "v": self.pick("0.5", "r", "1.5", "n", "2", "-0.25", "0", "x[0]"),
            "s": self.pick("n + 3", "len(x)", "len(u) + 1", "2 * n + 1", "m.shape[0] * 2", "len(x) // 2 + 1", "max(n, 4)"), "g": self.pick("0", "-1", "n % 1", "len(x) * 0"),
            **{each: f"{each}{number}" for each in "ijlpqdTS"},
        }  # fmt: skip
        if words["A"] == "count" and template not in SNIPPETS[:0]:
            words["A"] = (
                "count" if "{A} += {q}" in template or "{A} += {p}" in template else "total"
            )
        words |= {
            "e": self.expression(self.draw(0, 2), words), "f": self.expression(self.draw(0, 2), words, True),
            "c": self.condition(words), "C": self.expression(1, words | {"i": "n"}),
        }  # fmt: skip
        return template.format(**words)

    def expression(self, depth: int, words: dict[str, str], cells: bool = False) -> str:
        if depth <= 0:
            if cells and self.draw(0, 1):
                return self.pick(
                    "m[{i}, {j}]", "m[{i}, {j}] * 0.5", "m[{i}, {j}] - {i} * {j}"
                ).format(**words)
            return str(self.pick(*ELEMENTS)).format(**words)
        parts = [self.expression(depth - 1, words, cells) for _ in range(2)]
        return str(self.pick(*OF_TWO)).format(*parts)

    def condition(self, words: dict[str, str]) -> str:
        x, y = self.expression(self.draw(0, 1), words), self.expression(0, words)
        simple = f"{x} {self.pick('<', '>', '<=', '==', '!=')} {y}"
        return str(
            self.pick(
                simple,
                simple,
                simple,
                f"({simple} and {words['i']} % 3 != 1)",
                f"({simple} or {words['i']} > 5)",
                f"not ({simple})",
                f"b[{words['i']} % len(b)]",
            )
        )


def arguments(seed: int) -> tuple[Any, ...]:
    """What a kernel is called with: arrays that end where memory does."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice(SIZES))
    end = bool(rng.integers(0, 2))
    reals = [
        np.round(rng.normal(size=size) * 4, 2),
        np.round(rng.normal(size=size) * 4, 2),
        rng.normal(size=size).astype("f4"),
    ]
    wholes = [
        rng.integers(-20, 50, size),
        rng.integers(-300, 300, size).astype("i4"),
        rng.integers(0, 90, size).astype("u1"),
        rng.random(size) < 0.5,
    ]
    shape = tuple(MATRICES[rng.integers(0, len(MATRICES))])
    tables = [np.round(rng.normal(size=shape), 2), rng.integers(-9, 9, shape)]
    arrays = [at_the_edge(np.asarray(each), end) for each in (*reals, *wholes, *tables)]
    return (*arrays, int(rng.integers(1, 9)), float(np.round(rng.normal(), 2)))

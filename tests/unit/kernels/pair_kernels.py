"""Pairs of loops as kernels: those of the project's catalogue, under its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

N = 4


@dataclass(frozen=True)
class Pair:
    """Two loops over `range(first)` and `range(second)`; `fused` says what must become of them.

    `yes`: one loop; `strips`; `no`: proved dependent; `cost`: right, but declined.
    """

    a: str
    b: str
    fused: str
    first: str = "4"
    second: str = "4"
    before: str = ""


def same(index: str, fused: str) -> Pair:
    """`a[f(i)] = ...` and then `o[i] = a[f(i)]`."""
    return Pair(f"a[{index}] = x[i] + i", f"o[i] = a[{index}]", fused)


def moved(left: str, right: str, fused: str) -> Pair:
    """`a[left] = ...` and then `o[i] = a[right]`."""
    return Pair(f"a[{left}] = x[i] + i", f"o[i] = a[{right}]", fused)


LEGAL = {
    "01": same("i", "yes"),
    "02": same("i + 1", "yes"),
    "03": same("2 * i + 3", "yes"),
    "04": same("i ^ 1", "yes"),
    "05": same("i << 1", "yes"),
    "14": same("3 - i", "yes"),
    "19": moved("2 * i", "2 * i + 1", "yes"),
    "20": moved("i", "i + 4", "yes"),
    "22": Pair(
        "a[p[i]] = x[i]", "o[i] = a[p[i]]", "yes", before="fw.assume_unique(p)"
    ),
    "24": Pair("k[i] = 3 - i", "o[i] = x[k[i]]", "yes"),
    "26": Pair("m[i // 2, i % 2] = x[i]", "o[i] = m[i // 2, i % 2]", "yes"),
    "37": Pair("s[()] += k[i]", "t[()] += p[i]", "yes"),
    "38": Pair("s[()] += k[i]", "s[()] += p[i]", "yes"),
    "44": Pair("a[i + 1] += a[i]", "o[i] = a[i + 1]", "cost"),
    "46": Pair("if c[i]: continue\n        a[i] = 1", "o[i] = 2", "yes"),
    "47": Pair("if x[i] > 0.9: break\n        a[i] = x[i]", "o[i] = x[i]", "apart"),
    "48": Pair("if c[i]: a[i] = 1.0", "if c[i]: o[i] = a[i]", "yes"),
    "52": same("64 * i & 255", "yes"),
    "54": Pair("a[i] = x[i]", "o[i] = a[i]", "yes", second="2"),
    "55": Pair("a[i] = x[i]", "o[i] = a[i]", "yes", first="2"),
    "56": Pair("a[i] = x[i]", "o[i] = a[i]", "yes", first="0"),
    "58": Pair(
        "k[i] = 2", "for j in range(k[i]): o[i] += 1", "strips"
    ),
    "61": Pair("a[i] = fw.random(1, i)", "o[i] = fw.random(2, i)", "yes"),
    "66": Pair(
        "m[i, 0] = x[i]; m[i, 1] = 2 * x[i]; m[i, 2] = 3.0",
        "o[i] = m[i, 0] + m[i, 1] * m[i, 2]",
        "yes",
    ),
    "67": Pair("a[i] += 1; a[i + 4] += a[i]", "a[i] *= 2; o[i] = a[i + 4]", "yes"),
    "72": same("i * i", "yes"),
    "74": same("i // 2 * 2 + i % 2", "yes"),
    "77": same("i % 8", "yes"),
    "78": same("3 * i % 4", "yes"),
    "80": Pair("a[0] = 7.0", "o[i] = a[0]", "yes"),
    "81": Pair("a[i] = 1.0", "a[i] = 2.0", "yes"),
    "82": Pair("a[i] += 1.0", "a[i] *= 2.0", "yes"),
    "87": Pair(
        "k[i] = 0", "for j in range(2):\n            if m[j, i] > 0: k[i] = 1", "strips"
    ),
}  # fmt: skip

ILLEGAL = {
    "06": same("i // 2", "no"),
    "07": same("i % 2", "no"),
    "08": same("i & 1", "no"),
    "09": same("min(i, 2)", "no"),
    "10": same("0", "no"),
    "11": moved("i", "max(i - 1, 0)", "no"),
    "11b": Pair("a[i] = x[i]", "if i > 0: o[i] = a[i - 1]", "no"),
    "12": moved("i", "i + 1", "no"),
    "13": moved("i", "3 - i", "no"),
    "15": Pair("a[i + 1] = x[i]", "o[i] = a[i] + a[i + 2]", "no"),
    "16": Pair("o[i] = a[i + 1]", "a[i] = x[i]", "no"),
    "17": Pair("o[i] = a[max(i - 1, 0)]", "a[i] = x[i]", "no"),
    "18": Pair("a[i] = 1.0", "a[i + 1] = 2.0", "no"),
    "21": moved("i", "2 * i", "no"),
    "23": Pair("a[q[i]] = x[i]", "o[i] = a[q[i]]", "no"),
    "25": Pair("a[i] = x[i]", "o[i] = a[p[i]]", "no"),
    "27": Pair("m[i // 2, i % 2] = x[i]", "o[i] = m[i % 2, i // 2]", "no"),
    "29": Pair(
        "if i == 3:\n            for j in range(8): a[j] = 5.0",
        "for j in range(8): o[i] += a[j]",
        "no",
    ),
    "36": Pair("s[()] += k[i]", "o[i] = x[i] / (1 + s[()])", "no"),
    "39": Pair("s[()] = max(s[()], k[i])", "s[()] += p[i]", "no"),
    "40": Pair("if i == 0: s[()] = 0", "s[()] += k[i]", "no"),
    "41": Pair("k[q[i]] += 1", "o[i] = k[q[i]]", "no"),
    "45": Pair("a[i + 1] += a[i]", "o[i] = a[4]", "no"),
    "49": Pair("k[i] = 1", "if k[3 - i] > 0: o[i] = 1.0", "no"),
    "50": Pair("if i % 2 == 0: a[i] = x[i]", "if i % 2 == 1: o[i] = a[i - 1]", "no"),
    "53": same("128 * i & 255", "no"),
    "59": Pair("print('a', i)", "print('b', i)", "no"),
    "70": same("max(i, 1)", "no"),
    "71": same("abs(i - 2)", "no"),
    "73": same("(i + 1) // 2", "no"),
    "75": same("i >> 1", "no"),
    "76": same("i | 1", "no"),
    "79": moved("i ^ 1", "i", "no"),
    "83": Pair("t1 = a[i]; a[(i + 2) % 4] = t1", "o[i] = a[i]", "no"),
    "85": Pair("a[i] = 1.0", "a[q[i]] += a[i]", "no"),
}


def source(pair: Pair) -> str:
    """The module of a pair's kernel."""
    lines = [
        "import numpy as np",
        "import fusewright as fw",
        "",
        "",
        "@fw.kernel",
        "def kernel(a, x, o, c, k, p, q, m, s, t):",
        f"    {pair.before}" if pair.before else "",
        f"    for i in range({pair.first}):",
        f"        {pair.a}",
        f"    for i in range({pair.second}):",
        f"        {pair.b}",
        "",
    ]
    return "\n".join(lines)


def arguments() -> tuple[Any, ...]:
    """What a pair is called with: room for every index in it."""
    rng = np.random.default_rng(7)
    return (
        rng.normal(size=260),
        rng.uniform(size=8),
        np.zeros(8),
        np.array([True, False, True, True]),
        np.arange(1, 9) % 4,
        np.array([2, 0, 3, 1]),
        np.array([0, 0, 1, 2]),
        rng.normal(size=(4, 4)),
        np.array(3),
        np.array(1),
    )

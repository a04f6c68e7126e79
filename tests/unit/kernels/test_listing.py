"""Kernels listed in the names of the user's function."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import fusewright as fw


def listing(kernel: Any) -> str:
    (code,) = kernel.explain().codes
    return code.listing


@fw.kernel
def smooth(a, b, weight, n):
    for i in range(1, a.shape[0] - 1):
        s = 0.0
        for j in range(n):
            s += a[i - 1] * weight + j
        if s > 1.0:
            b[i] = s
        else:
            b[i] = -a[i] / (2.0 - s)


def test_names_are_the_users() -> None:
    smooth(np.ones(100), np.zeros(100), 0.5, 3)
    text = listing(smooth)
    assert "for i in range(1, a.shape[0] - 1):" in text
    assert "for j in range(n):" in text
    assert "a[i - 1] * weight" in text
    assert "2.0 - s" in text
    assert not re.search(r"\b[bpi]\d+\b", text), text
    shown = [line.removeprefix("    ") for line in str(smooth.explain()).splitlines()]
    assert shown[-len(text.splitlines()) :] == text.splitlines()


@fw.kernel
def twice(s, i):
    for k in range(len(s)):
        t = s[k]
        for k2 in range(3):
            t = t + k2
        s[k] = t * i
    for k in range(len(s)):
        t = 2
        s[k] = s[k] + t


def test_what_has_one_name_keeps_apart() -> None:
    """Variables of the function, loops and arrays never share a name they do not share there."""
    twice(np.ones(10), 2)
    lines = listing(twice).splitlines()
    names = [re.match(r"\s*for (\w+) in", line) for line in lines]
    loops = {found[1] for found in names if found}
    assert loops >= {"k", "k2"}
    assert not loops & {"s", "i", "t"}


@fw.kernel
def kinds(x, y, m):
    k = 0
    while k < len(x) and x[k] < 3.0:
        k += 1
    for i in range(len(x)):
        y[i] = max(x[i], 1.0) if m > k else abs(x[i])
        for q in range(4):
            if q == m:
                break
            y[i] += q**2 + int(x[i]) % 3
    print("done", k)


def test_every_kind_of_statement_has_a_line() -> None:
    kinds(np.arange(10.0), np.zeros(10), 2)
    text = listing(kinds)
    assert "while True:" in text
    assert "leave block" in text
    assert "print(" in text
    assert "def " not in text


def test_the_report_of_a_run_has_it_too() -> None:
    a, b = np.ones(100), np.zeros(100)
    (record,) = fw.explain(smooth, a, b, 0.5, 3).kernels
    assert record.loops == listing(smooth)

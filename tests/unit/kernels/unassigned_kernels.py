"""Kernels with names and results that some path leaves without a value."""

# ruff: noqa: F821, F841, RET503 - that is what these are about

from __future__ import annotations

import numpy as np

import fusewright as fw


@fw.kernel
def of_a_branch(a, c):
    if c:
        x = a[0]
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return x + s


@fw.kernel
def of_two_branches(a, b):
    if a > 0:
        x = 1
    if b > 0:
        x = 2
    return x


@fw.kernel
def of_the_iteration_before(a):
    t = 0.0
    for i in range(len(a)):
        if a[i] > 0.5:
            t += before
        before = a[i]
    return t


@fw.kernel
def of_a_loop(n):
    for i in range(n):
        last = i * 2
    return i, last


@fw.kernel
def of_a_literal_loop(a):
    for power in range(32):
        if a[0] * power > 3:
            return power
        power += 1
    return power


@fw.kernel
def of_while(n):
    while n > 0:
        n -= 1
        y = n * 0.5
    return y


@fw.kernel
def of_some_iteration(a):
    for i in range(len(a)):
        if a[i] > 0.5:
            found = i
    return found


@fw.kernel
def a_tuple(a, c):
    if c:
        t = (a[0], 1)
    return t[0] + t[1]


@fw.kernel
def an_array(a, c):
    if c:
        t = np.zeros(len(a))
    for i in range(len(a)):
        if c:
            t[i] = a[i]
    return t


@fw.kernel
def in_an_assertion(a, c):
    if c:
        x = a[0]
    assert x < 5
    return x


def sometimes(x):
    if x > 2:
        return x * 2
    if x < -2:
        return -x


@fw.kernel
def results(a):
    s = 0.0
    for i in range(len(a)):
        s += sometimes(a[i])
    return s


def changing(a, i):
    if a[i] > 0.5:
        a[i] = 0
        return 1


@fw.kernel
def results_that_nobody_needs(a):
    for i in range(len(a)):
        changing(a, i)

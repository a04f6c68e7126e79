"""Kernels that are refused, one for each reason; the error points at the line with `# <`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import fusewright as fw

LIST = [1, 2, 3]
DICT = {"a": 1}


@fw.kernel
def try_(a):
    try:  # noqa: SIM105 # <
        a[0] = 1
    except ValueError:
        pass


@fw.kernel
def list_(a):
    b, c = [1, 2], []
    c.append(b)  # <
    a[0] = len(c)


@fw.kernel
def list_returned(a):
    return [a, 1]  # <


@fw.kernel
def list_that_grows(a):
    found = [a[0]]
    for x in found:  # <
        found.append(x)
    return found


@fw.kernel
def zipped_with_a_tuple(a):
    for x, y in zip(a, (1, 2), strict=False):  # <
        a[0] += x * y


@fw.kernel
def reversed_pairs(a):
    for i, x in reversed(enumerate(a)):  # <
        a[i] = x


@fw.kernel
def with_(a):
    with fw.lazy():  # <
        a[0] = 1


@fw.kernel
def captured_list(a):
    for i in range(3):
        a[i] = LIST[i]  # <


@fw.kernel
def captured_dict(a):
    a[0] = DICT["a"]  # <


@fw.kernel
def unknown_name(a):
    a[0] = undefined_thing  # noqa: F821 # <


@fw.kernel
def read_too_early(a):
    a[0] = x  # noqa: F821 # <
    x = 1  # noqa: F841


@fw.kernel
def maybe_unassigned(a, n):
    for i in range(n):
        last = a[i:]
    a[0] = last[0]  # <


@fw.kernel
def maybe_unassigned_branch(a, n):
    if n > 2:
        x = a[1:]
    a[0] = x[0]  # <


@fw.kernel
def conflicting(a, n):
    x = a[0]
    for i in range(n):
        if a[i] < 2:
            x = i  # <
    a[1] = x


@fw.kernel
def conflicting_branches(a, n):
    x = 0.5
    for i in range(n):
        if i > 2:
            x = a[0] > 1  # <
    a[1] = x


@fw.kernel
def path_dependent(a, b, n):
    k = n
    if n > 2:
        k = a[0]
    b[0] = b[1] * k  # <


@fw.kernel
def number_or_tuple(a, n):
    x = 1
    for i in range(n):
        if i > 2:
            x = (1, 2)  # <
    a[0] = x


@fw.kernel
def swapped_arrays(a, b, n):
    for _ in range(n):
        if a[0] > b[0]:
            a, b = b, a  # <
        a[0] += 1


def fact(n):
    return 1 if n < 2 else n * fact(n - 1)  # <


@fw.kernel
def recursion(a):
    a[0] = fact(3)


@fw.kernel
def too_many_indices(a):
    a[0, 1] = 1  # <


@fw.kernel
def too_few_indices(m):
    m[0, 0] = m[1]  # <


@fw.kernel
def whole_array(a, b):
    a[0] = a + b  # <


@fw.kernel
def part_of_ints(a):
    a[1:3] *= 1.5  # <


@fw.kernel
def rounded_to_digits(a):
    a[0] = round(a[1], 30)  # <


@fw.kernel
def float_index(a, x):
    a[x] = 0  # <


@fw.kernel
def loop_over_number(a):
    for x in len(a):  # <
        a[0] += x


@fw.kernel
def unknown_function(a):
    a[0] = math.gcd(4, 6)  # <


@fw.kernel
def function_of_numpy(a):
    a[0] = np.gradient(a)  # <


@fw.kernel
def attribute_of_array(a):
    a[0] = a.flags[0]  # <


@fw.kernel
def assigned_attribute(o):
    o.x = 1  # <


@fw.kernel
def integer_power(a, n):
    a[0] = 2**n  # <


@fw.kernel
def zero_division(a, n):
    a[0] = n // 0  # <


@fw.kernel
def bitwise_floats(a, x):
    a[0] = x & 1  # <


@fw.kernel
def out_of_range_literal(e):
    e[0] = e[1] + 300  # <


@fw.kernel
def too_large_literal(a):
    a[0] = 2**70  # <


@fw.kernel
def static_of_shape(a):
    for i in fw.static(range(a.shape[0])):  # <
        a[i] = 1


@fw.kernel
def local_of_run_time_size(a, n):
    w = fw.local(n)  # <
    a[0] = w[0]


@fw.kernel
def large_local(a):
    w = fw.local((1000, 1000))  # <
    a[0] = w[0, 0]


@fw.kernel
def local_out_of_bounds(a):
    w = fw.local(3)
    a[0] = w[3]  # <


def sometimes(a, n):  # noqa: RET503
    if n > 2:  # <
        return a[n:]


@fw.kernel
def sometimes_returns(a, n):
    a[0] = sometimes(a, n)[0]


@fw.kernel
def returns_array(a):
    for i in range(2):
        if a[i] > 0:
            return a[i:]  # <
    return a[1:]


@fw.kernel
def wrong_call(a):
    a[0] = fact(1, 2)  # <


@fw.kernel
def starred(a, p):
    a[0] = max(*p)  # <


@fw.kernel
def read_only(a):
    a[0] = 1  # <


@fw.kernel
def stepless(a):
    for i in range(0, 5, 0):  # <
        a[i] = 1


def frozen() -> Any:
    array = np.ones(3)
    array.flags.writeable = False
    return array


class Thing:
    x = 2.0


A, B, M = np.arange(4.0), np.arange(4, dtype=np.float32), np.ones((3, 3))
E8 = np.arange(4, dtype=np.uint8)
I8 = np.arange(4)
CASES: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "try": (try_, (A,), "a kernel cannot contain try"),
    "list": (list_, (A,), "a list of 2 as an item of a list"),
    "with": (with_, (A,), "cannot contain with"),
    "captured list": (captured_list, (A,), "`LIST` is a list from outside the kernel"),
    "captured dict": (captured_dict, (A,), "`DICT` is a dict from outside"),
    "unknown name": (unknown_name, (A,), "name `undefined_thing` is not defined"),
    "read too early": (read_too_early, (A,), "`x` is read before it is assigned"),
    "maybe unassigned": (maybe_unassigned, (A, 2), "`last` may have no value here"),
    "maybe unassigned branch": (maybe_unassigned_branch, (A, 2), "`x` may have no value"),
    "conflicting": (conflicting, (A, 2), "`x` is a NumPy float64 and a Python int"),
    "conflicting branches": (conflicting_branches, (A, 2), "and a NumPy bool"),
    "path dependent": (path_dependent, (I8, B, 2), "the type of multiply depends on the path"),
    "number or tuple": (number_or_tuple, (A, 2), "`x` is a number on one path"),
    "swapped arrays": (swapped_arrays, (A, A.copy(), 2), "another array of float64"),
    "recursion": (recursion, (A,), "fact calls itself"),
    "too many indices": (too_many_indices, (A,), "2 indices into an array of rank 1"),
    "too few indices": (too_few_indices, (M,), "a number is needed here, not an array"),
    "whole array": (whole_array, (A, A), "a number is needed here, not a computed array"),
    "part of ints": (part_of_ints, (A.astype(int),), "into elements of int64"),
    "list returned": (list_returned, (A,), "as an item of a list that is changed"),
    "list that grows": (list_that_grows, (A,), "that it makes longer or shorter"),
    "zip with a tuple": (zipped_with_a_tuple, (A,), "a tuple beside something whose length"),
    "reversed pairs": (reversed_pairs, (A,), "reversed of a zip"),
    "rounded to digits": (rounded_to_digits, (A,), "round to 30 digits"),
    "float index": (float_index, (A, 1.0), "an index must be an integer"),
    "function of numpy": (function_of_numpy, (A,), "a kernel cannot call gradient"),
    "loop over a number": (loop_over_number, (A,), "a loop over Python int"),
    "unknown function": (unknown_function, (A,), "a kernel cannot call gcd"),
    "attribute of array": (attribute_of_array, (A,), "an array has no attribute `flags`"),
    "assigned attribute": (assigned_attribute, (Thing(),), "an assignment to an attribute"),
    "integer power": (integer_power, (A, -3), "an integer to a negative integer power"),
    "zero division": (zero_division, (A, 3), "division by zero"),
    "bitwise floats": (bitwise_floats, (A, 1.5), "bitwise_and is not defined for Python float"),
    "out of range literal": (out_of_range_literal, (E8,), "300 out of bounds for uint8"),
    "too large literal": (too_large_literal, (A,), "does not fit 64 bits"),
    "static of shape": (static_of_shape, (A,), "fw.static of a range that is not known"),
    "local of run-time size": (local_of_run_time_size, (A, 3), "must be known when"),
    "large local": (large_local, (A,), "local arrays of more than 64 KiB"),
    "local out of bounds": (local_out_of_bounds, (A,), "index 3 is out of bounds for `local`"),
    "sometimes returns": (sometimes_returns, (A, 3), "may end without returning a value"),
    "returns array": (returns_array, (A,), "a part of `a` is returned in the midst"),
    "wrong call": (wrong_call, (A,), "fact: too many positional arguments"),
    "starred": (starred, (A, (1, 2)), "a starred argument"),
    "read-only": (read_only, (frozen(),), "`a` is written to"),
    "stepless": (stepless, (A,), "step of 0"),
}
ELSEWHERE = {"returned function"}
"""Cases whose caret is under the definition."""

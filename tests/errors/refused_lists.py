"""Lists that statements change, and types that are asked for: what is refused."""

import numpy as np

import fusewright as fw

A = np.arange(4.0)


@fw.kernel
def list_of_both(a):
    found = [0] * len(a)
    found[0] = 1.5  # <
    return found


@fw.kernel
def list_of_an_iteration(a):
    kept = (a[0], [a[0]])
    for x in a:
        row = [x]
        row.append(x)
        if x > 1:
            kept = (x, row)  # <
    return kept[0]


@fw.kernel
def list_printed(a):
    found = []
    found.append(a[0])
    print(a[0])  # <
    return found


@fw.kernel
def list_asked_for_more(a):
    found = [a[0]]
    found.append(a[1])
    return found.index(a[1])  # <


@fw.kernel
def type_of_a_path(a):
    s = 0
    for i in range(3):
        s += i
    if isinstance(s, int):  # <
        a[0] = s


CASES = {
    "list of both": (list_of_both, (A,), "in a list of a Python int each"),
    "list of an iteration": (list_of_an_iteration, (A,), "beyond the iteration that makes it"),
    "list printed": (list_printed, (A,), "print in a kernel with lists that grow"),
    "list asked for more": (list_asked_for_more, (A,), "they have append"),
    "type of a path": (type_of_a_path, (A,), "depends on the path taken"),
}

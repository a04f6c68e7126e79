"""Functions, comprehensions and assertions inside kernels that are refused."""

import numpy as np

import fusewright as fw

A = np.arange(4.0)


@fw.kernel
def recursive_lambda(a):
    f = lambda x: f(x)  # noqa: E731 # <
    a[0] = f(a[0])


@fw.kernel
def comprehension(a):
    w = tuple(x * 2 for x in a)  # <
    a[0] = w[0]


@fw.kernel
def filtered_comprehension(a):
    w = tuple(k for k in range(4) if a[k] > 0)  # <
    a[0] = w[0]


@fw.kernel
def bare_generator(a):
    g = (x * 2 for x in a)  # <
    a[0] = max(g)


@fw.kernel
def sum_by_keyword(a):
    a[0] = max((x for x in a), key=abs)  # <


@fw.kernel
def conditional_walrus(a):
    if a[0] > 0 and (x := a[1]) > 0:  # <
        a[0] = x


@fw.kernel
def walrus_in_comprehension(a):
    a[0] = sum(y for x in a if (y := x * 2) > 1)  # <


@fw.kernel
def false_assertion(a):
    assert a.ndim == 2, "needs a matrix"  # <
    a[0] = 1


@fw.kernel
def returned_function(a):
    def f(x):
        return x

    return f


@fw.kernel
def decorated_function(a):
    @staticmethod
    def f(x):  # <
        return x

    a[0] = f(a[0])


@fw.kernel
def nested_recursion(a):
    def f(x):
        return f(x - 1)  # <

    a[0] = f(a[0])


CASES = {
    "recursive lambda": (recursive_lambda, (A,), "calls itself"),
    "comprehension": (comprehension, (A,), "length is not known when the kernel is compiled"),
    "list of an argument": (filtered_comprehension, (A,), "length depends on a condition"),
    "generator": (bare_generator, (A,), "a kernel cannot contain a generator expression"),
    "max by key": (sum_by_keyword, (A,), "these arguments of max"),
    "walrus after and": (conditional_walrus, (A,), "where it is not always computed"),
    "walrus inside": (walrus_in_comprehension, (A,), "inside a comprehension"),
    "false assertion": (false_assertion, (A,), "the assertion fails: needs a matrix"),
    "returned function": (returned_function, (A,), "a kernel cannot return a function"),
    "decorated function": (decorated_function, (A,), "a decorator of f"),
    "nested recursion": (nested_recursion, (A,), "f calls itself"),
}

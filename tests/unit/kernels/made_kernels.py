"""Kernels that make functions, collect comprehensions, and name values inside expressions."""

import fusewright as fw


@fw.kernel
def inner_function(a, c):
    k = c * 2

    def f(x, y=2.0):
        return x * k + y

    for i in range(a.shape[0]):
        a[i] = f(a[i]) + f(1.0, y=k) + f(y=0.5, x=a[i])
    k = 100.0
    return f(1.0)


@fw.kernel
def changed_on_a_path(a, c):
    k = 1.0

    def f(x):
        return x * k

    if c > 1:
        k = 2.0
    for i in range(a.shape[0]):
        a[i] = f(a[i])
        if a[i] > 3:
            k = k + 0.5
    return f(2.0)


@fw.kernel
def own_names(a, c):
    x = 5.0
    k = 7

    def f(v):
        x = v * 2
        for k in range(3):
            x += k
        return x

    s = f(c) + x + k
    s += sum(x * k for k in range(3))
    w = [k * x for k in range(4)]
    return s + w[3] + k


@fw.kernel
def functions_of_functions(a, c):
    def twice(g, x):
        return g(g(x))

    def outer(x):
        def inner(y):
            return y + x * c

        return inner(x) + twice(inner, 1.0)

    for i in range(a.shape[0]):
        a[i] = twice(lambda x: x * c + 1, a[i]) + outer(a[i])


@fw.kernel
def early_ends(a, c):
    def clipped(x):
        if x < 0:
            return 0.0
        for k in range(10):
            if x + k > c:
                return x + k
        return -1.0

    s = 0.0
    for i in range(a.shape[0]):
        s += clipped(a[i])
    return s


@fw.kernel
def sums(a, c):
    n = a.shape[0]
    first = sum(a[k] * c for k in range(n))
    positive = sum(1 for x in a if x > 0)
    pairs = sum(a[i] * a[j] for i in range(n) for j in range(i) if i + j > 2)
    started = sum((x for x in a if x < 0), 10.0)
    weighted = sum(i * x for i, x in enumerate(a))
    both = sum(x * y for x, y in zip(a, a[2:], strict=False))
    return first, positive, pairs, started, weighted, both, sum(a), sum(range(n)), sum((1, 2, n))


@fw.kernel
def extremes(a, c):
    n = a.shape[0]
    largest = max(abs(a[k] - c) for k in range(n))
    place = max((a[k], k)[1] for k in range(n))
    guarded = float(min((x for x in a if x > 100), default=-1.0))
    return largest, place, guarded, max(a), min(a), min(a[1:]), max(1, n), max((n, 3))


@fw.kernel
def questions(a, c):
    n = a.shape[0]
    some = any(x > c for x in a)
    every = all(x < 100 for x in a)
    nested = any(a[i] == a[j] for i in range(n) for j in range(i))
    none = any(x > 0 for x in a[n:])
    return some, every, nested, none, all(a), any(a), all(x for x in a[n:])


@fw.kernel
def written_out(a, c):
    w = [0.25 * k * c for k in range(1, 4)]
    pairs = [(i, j) for i in range(3) for j in range(i)]
    odd = tuple(k for k in range(6) if k % 2)
    s = 0.0
    for i in range(1, a.shape[0] - 1):
        s += w[0] * a[i - 1] + w[1] * a[i] + w[-1] * a[i + 1]
    for i, j in pairs:
        s += i * 10 + j
    for k in odd:
        s = s * 0.5 + k
    return s + len(w) + len(pairs)


@fw.kernel
def row_products(a, c):
    n = a.shape[0] // 3
    for i in range(n):
        a[i] = sum(a[3 * i + k] * c for k in range(3)) + max(a[3 * i + k] for k in range(3))


@fw.kernel
def named_values(a, c):
    i = 0
    s = 0.0
    while (n := i * 2) < a.shape[0]:
        s += a[n] * n
        i += 1
    if (m := s * c) > 3:
        s += m
    t = (u := c + 1) * u
    return s, n, m, t, u


@fw.kernel
def until_break(a, c):
    steps = 0
    while True:
        change = 0.0
        for i in range(1, a.shape[0] - 1):
            new = 0.5 * (a[i - 1] + a[i + 1])
            change = max(change, float(abs(new - a[i])))
            a[i] = new
        steps += 1
        if steps > 20:
            reason = 1
            break
        if change < 0.05 * c:
            reason = 2
            break
    return steps, change, reason


@fw.kernel
def bits(a, c):
    total = 0
    for k in range(-3, 40):
        total += k.bit_count() * (k + 5)
    return total


@fw.kernel
def checked(a, n):
    assert n > 0, "n must be positive"
    s = 0.0
    for i in range(n):
        assert a[i] >= 0
        s += a[i]
    return s

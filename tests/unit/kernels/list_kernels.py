"""Kernels with lists that grow and shrink; what each means CPython says."""

from __future__ import annotations

import numpy as np

import fusewright as fw


@fw.kernel
def bits(n):
    found = []
    while n != 0:
        found.insert(0, int(n % 2))
        n = int(n / 2)
    return found


@fw.kernel
def squares(a):
    found = []
    for x in a:
        if x > 0.3:
            found.append(x * x)
    return found


@fw.kernel
def tree(a):
    left = [(0, 0)]
    seen = [False] * len(a)
    order = []
    while left:
        i, depth = left.pop()
        if i >= len(a) or seen[i]:
            continue
        seen[i] = True
        order.append((i, depth, a[i]))
        left.append((i * 2 + 1, depth + 1))
        left.append((i * 2 + 2, depth + 1))
    return order, len(order), seen


@fw.kernel
def methods(n):
    found = []
    for i in range(n):
        found.append(i * 0.5)
    found.reverse()
    found.insert(1, -1.0)
    found.insert(-1, -2.0)
    found.insert(100000, -3.0)
    total = 0.0
    for i, x in enumerate(found):
        total += x * i
    while len(found) > 3:
        total += found.pop(1)
    found[0] += 5
    found[-1] = 2.25
    found.extend([1.0, 2.0])
    found += [3.0]
    found.extend(found)
    part, copy = found[1:4], found.copy()
    copy.clear()
    return total, found, part, copy, found[::-1], part[:-1], list(found), found[1]


@fw.kernel
def asked(a):
    found = list(a)
    last = found[-1] - found.pop()
    first = found[0] + found.pop(0)
    found.sort()
    return last, first, sum(found), max(found), a[1] in found, 77.0 in found, not found, found


@fw.kernel
def as_arrays(a):
    pairs = [(x, i) for i, x in enumerate(a)]
    numbers = [i for i in range(len(a)) if a[i] > 0.3]
    return np.array(pairs), np.array(numbers), np.sum(numbers), [(1, 2.0), (3, 4.0)], pairs


@fw.kernel
def updates(n):
    found = [1, 2, 3] * n
    for i in range(len(found)):
        found[i] *= i
        found[i] //= 3
    return found, found[0] / 2, len([x for x in found if x > 1])


@fw.kernel
def writes(a, n):
    """What it writes is written once, however often it runs."""
    found = []
    for i in range(n):
        a[i % len(a)] += 1
        found.append(i)
    return len(found)


def near(x, y, size):
    all_ = [(x + 1, y), (x, y + 1), (x, y - 1), (x - 1, y)]
    found = []
    for each in all_:
        if 0 <= each[0] < size and 0 <= each[1] < size:
            found.append(each)
    return found


@fw.kernel
def flood(a):
    queue = [(0, 0)]
    a[0, 0] = 1
    k = 0
    while k < len(queue):
        x, y = queue[k]
        k += 1
        for p, q in near(x, y, a.shape[0]):
            if a[p, q] == 0:
                a[p, q] = a[x, y] + 1
                queue.append((p, q))
    return len(queue), queue


@fw.kernel
def started_again(a):
    out, run = [], []
    for i in range(len(a)):
        run.append(a[i])
        if len(run) == 3:
            out.append(sum(run))
            run = []
    return out, run


@fw.kernel
def layers(a):
    layer = [0]
    n = len(a)
    far = [-1] * n
    far[0] = 0
    depth = 0
    while layer:
        depth += 1
        below = []
        for v in layer:
            for w in (v * 2 + 1, v * 2 + 2):
                if w < n and far[w] < 0:
                    far[w] = depth
                    below.append(w)
        layer = below
    return far


@fw.kernel
def of_branches(c, n):
    if c:
        found = [1.0, 2.0]
    else:
        found = [3.0]
    for k in range(n):
        found.append(k * 0.5)
    return found


@fw.kernel
def one_of_two(n):
    if n < 0:
        return []
    found = [1]
    for _ in range(n):
        found.append(found[-1] * 2)
    return found


@fw.kernel
def in_a_loop(a):
    total = 0
    for i in range(5):
        found = []
        for j in range(i):
            found.append(a[j])
        total += len(found)
        while len(found) > 0:
            total += 1
            found.pop()
    return total


@fw.kernel
def read_before_it_grows(a):
    found = []
    total = 0.0
    for x in a:
        for y in found:
            total += y
        found.append(x)
        if x in found:
            total += 1
    return total


@fw.kernel
def path(a):
    i = len(a) - 1
    steps = [(i, i)]
    while i > 0:
        i -= 2 if a[i] > 0.5 else 1
        if i >= 0:
            steps.append((i, i + 1))
    return steps[::-1]


def longer(given):
    given.append(3)
    return given


@fw.kernel
def one_list_of_several_names(n):
    a = [1, 2]
    b = a
    c = longer(b)
    c[0] = n
    a = [5]
    a.append(6)
    return a, b, c


@fw.kernel
def kept(n):
    for i in range(n):
        row = [i, i + 1]
        row.append(i)
        if i == 2:
            found = row
    return found


@fw.kernel
def emptied(n):
    found = [1]
    for _ in range(n):
        found.pop()
    return found


@fw.kernel
def arrays_of_branches(a, c):
    if c:
        x = np.zeros(len(a))
    else:
        x = np.ones(len(a))
    for i in range(3):
        y = x + a
        if a[i] > 0.1:
            y = a * 3
        x[i] += y[i]
    if not c:
        x = np.full(len(a), 4.0)
    return x, len(a)


@fw.kernel
def array_of_some(a, n, c):
    d = -1 * np.ones((a.shape[0], (n * 3 + 7) // 2 - n % 2), np.int64)
    if c:
        x = np.zeros(d.shape, np.float64)
        x[0, 0] = 5
    for i in range(len(a)):
        d[i, 0] = i
    if not c:
        x = np.ones_like(d, np.float64)
    return x, d


@fw.kernel
def array_kept(n):
    for i in range(5):
        row = np.zeros(n)
        row[0] = i
        if i == 2:
            keep = row
    return keep


@fw.kernel
def array_handed_on(n):
    x = np.zeros(n)
    t = 0.0
    for i in range(4):
        new = x * 2
        new[0] = i
        t += x[0]
        x = new
    return t, x


@fw.kernel
def next_greater(a):
    found = np.zeros(len(a))
    waiting = []
    for i in range(len(a)):
        while waiting and a[waiting[-1]] < a[i]:
            found[waiting.pop()] = a[i]
        waiting.append(i)
    return found


@fw.kernel
def rising(a):
    kept = []
    for x in a:
        while len(kept) > 0 and kept[-1] > x:
            kept.pop()
        kept.append(x)
    return kept


@fw.kernel
def largest_rectangle(heights):
    best = 0.0
    left = []
    for i in range(len(heights) + 1):
        here = heights[i] if i < len(heights) else 0.0
        while len(left) > 0 and heights[left[-1]] >= here:
            top = left.pop()
            width = i if len(left) == 0 else i - left[-1] - 1
            best = max(best, heights[top] * width)
        left.append(i)
    return best


@fw.kernel
def item_set(a, place):
    found = [float(x) * 2 for x in a]
    found.append(0.5)
    found[place] = 7.0
    return found

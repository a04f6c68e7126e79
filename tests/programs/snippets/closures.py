"""globals and closures"""

import numpy as np

R = []
state = np.zeros(3)


def step(k):
    global state
    state = state + k
    return state


hist = [step(i) for i in range(4)]
print(hist[0], hist[-1], state)
import functools


@functools.lru_cache
def basis(n):
    return np.eye(n)


b = basis(2)
b[0, 0] = 5
print(basis(2))


class P:
    def __init__(s):
        s.x = np.zeros(2)
        s.log = []

    def go(s):
        s.x += 1
        s.log.append(s.x.copy())
        s.log.append(s.x)
        return s


p = P().go().go()
print(p.log)
gen = (np.arange(i) for i in range(3))
print([g.sum() for g in gen])
l = [np.zeros(2)] * 2
l[0] += 1
print(l)
t = (np.ones(2),)
t[0][0] = 4
print(t)
f = lambda a=np.zeros(1): a.__iadd__(1)
f()
print(f())


def gen2(x):
    for r in x:
        r *= 2
        yield r


x = np.ones((2, 2))
print(list(gen2(x)))
print(x)
x = np.arange(4).reshape(2, 2)
for row in x:
    row[0] = 9
print(x)
it = iter(x)
next(it)[:] = 0
print(x)

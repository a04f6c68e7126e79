"""numexpr: expressions over the caller's variables."""

import numexpr as ne
import numpy as np

a, b = np.arange(900.0), np.linspace(0, 1, 900)


def inside(c):
    d = c * 2
    return ne.evaluate("a * b + sin(d)")


print(inside(a).sum().round(6), ne.evaluate("where(a > 3, b, -b)").sum().round(8))
out = np.zeros(900)
ne.evaluate("a + b", out=out)
print(
    out.sum().round(8),
    ne.evaluate("sum(a * b)").round(6),
    ne.evaluate("x + 1", local_dict={"x": a}).sum(),
)

"""SymPy: expressions as functions of arrays; matrices."""

import numpy as np
import sympy
from sympy.abc import x, y

f = sympy.lambdify((x, y), sympy.sin(x) * y + sympy.Abs(y), "numpy")
a = np.linspace(0, 1, 700)
print(
    np.sum(f(a, a * 2)).round(8),
    sympy.lambdify(x, sympy.diff(sympy.exp(x) * x, x))(a).sum().round(6),
)
print(sympy.Matrix(np.arange(9).reshape(3, 3)).det(), sympy.Matrix(np.eye(26) * 2).trace())
print(
    np.array(sympy.Matrix([[1, 2], [3, 4]])).astype(float).sum(),
    sympy.lambdify(x, sympy.Piecewise((x, x > 0), (0, True)))(a).sum().round(6),
)

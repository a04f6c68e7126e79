"""CVXPY: problems with arrays as data."""

import cvxpy as cp
import numpy as np

matrix = np.sin(np.arange(40 * 20.0)).reshape(40, 20)
goal = np.cos(np.arange(40.0))
v = cp.Variable(20)
problem = cp.Problem(cp.Minimize(cp.sum_squares(matrix @ v - goal)), [v >= 0, v <= 1])
problem.solve()
print(round(problem.value, 4), np.round(np.sum(v.value), 3), np.round(cp.norm(matrix @ v).value, 3))
w = cp.Parameter(800, value=np.arange(800.0))
print(
    cp.sum(w).value, (cp.multiply(np.ones(800), w)).value.sum(), (np.ones((3, 800)) @ w).value.sum()
)

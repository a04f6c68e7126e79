"""resize refs"""

import numpy as np

R = []
x = np.arange(4)
y = x
try:
    x.resize((2, 3))
    print("ok")
except ValueError:
    print("VE")
del y
z = np.arange(4)
z.resize((2, 3))
print(z)
z.resize(2)
print(z)
try:
    z[:1].resize(3)
except ValueError:
    print("VE")

# of the same size, whoever looks at it
grid = np.arange(6).reshape(2, 3)
row = grid[0]
grid.resize(3, 2)
row[1] = 9
print(grid, row)

# another order is another array
turned = np.asfortranarray(grid)
grid[0, 0] = -1
print(turned, turned.flags["F_CONTIGUOUS"], np.shares_memory(grid, turned))

"""errors by user"""

import numpy as np

R = []


class E(Exception):
    pass


try:
    x = np.zeros(3)
    x[0] = 1
    raise E("mid")
except E:
    print(x)
try:
    np.testing.assert_allclose(np.ones(2), np.ones(2) * 2)
except AssertionError as e:
    print("AE")
np.testing.assert_array_equal(np.arange(3), [0, 1, 2])
np.testing.assert_almost_equal(np.pi, 3.14159265, 6)
assert np.allclose(np.ones(2), 1)
try:
    np.random.default_rng(0).integers(5, 0)
except ValueError:
    print("VE")
try:
    x = np.zeros(3)
    x["a"]
except IndexError:
    print("IE")
try:
    np.zeros(2) + "a"
except TypeError:
    print("TE")
try:
    np.zeros(2) + None
except TypeError:
    print("TE")
try:
    np.zeros(2) < None
except TypeError:
    print("TE")
print(
    np.zeros(2) == None,
    np.zeros(2) == "a",
    np.zeros(2) != None,
    None in [None],
    np.zeros(2) is None,
)

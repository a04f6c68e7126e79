"""text tables"""

import numpy as np

R = []
for n, m in zip(["a", "b"], np.array([[1.234, 5.678], [9.1, 2.3]])):
    print(f"{n:>5s} {m[0]:8.3f} {m[1]:<8.2e}|", *m, sep=";")
print("%d items, %5.2f%%, %s" % (np.arange(3).size, np.float64(12.345), np.arange(3)))
print("{:>10}".format(str(np.arange(3))))
print(
    f"{np.pi:.3f} {np.arange(3).sum():d} {np.arange(3).mean():g} {np.arange(3).max():>5} {np.float32(1.5)!r} {np.arange(2)!r:>20}"
)
print(np.arange(3.0).round(2).astype(str))
print(",".join(map(str, np.arange(3))))
print(",".join(str(v) for v in np.linspace(0, 1, 3)))
print(np.array([1.5, 2]).tolist(), repr(np.arange(3).tolist()))
print(np.arange(6).reshape(2, 3).tolist())
print(str(np.float64(3)) + "x", "a%sb" % np.int64(3))
print(np.array(["a", "b"])[np.arange(2)[::-1]])
print(
    f"{np.arange(4)[2]:04d}",
    f"{np.arange(4)[2]:x}",
    f"{np.arange(4.0)[2]:.0f}",
    f"{np.array(2.5):.1f}",
    "%i" % np.arange(3)[1],
    "%5.1f" % np.arange(3.0)[1],
    "{0:b}".format(np.arange(9)[5]),
)

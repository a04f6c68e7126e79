"""inplace casting errors"""

import numpy as np

R = []
a = np.arange(3)
for f in (
    "a+=1.5",
    "a/=2",
    "a*=1j",
    "a//=2",
    "a**=2",
    "a-=np.ones(3)",
    "a&=True",
    "a<<=1",
    "a[0]+=0.7",
    "a+=np.ones((2,3),int)",
    "a+=np.ones((1,3),int)",
    "a%=3",
    "a@=a",
):
    try:
        exec(f)
        print(f, a)
    except Exception as e:
        print(f, [c.__name__ for c in (TypeError, ValueError) if isinstance(e, c)], a)
b = np.arange(3, dtype="u1")
b += 200
print(b)
try:
    b += 300
    print(b)
except OverflowError:
    print("overflow")
c = np.arange(3, dtype="f4")
c += 1e300
print(c)
c = np.arange(3, dtype="f4") + np.float64(1)
print(c.dtype)
print((np.arange(3, dtype="f4") + 1.0).dtype, (np.int8(3) + np.arange(2, dtype="u1")).dtype)

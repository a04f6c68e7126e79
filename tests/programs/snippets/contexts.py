"""context managers"""

import numpy as np

R = []
with np.errstate(divide="ignore", invalid="ignore"):
    print(np.array([1.0, 0.0]) / 0, np.log(np.array([0.0, -1.0])), np.sqrt(np.array([-1.0])))
with np.errstate(all="raise"):
    try:
        print(np.float64(1) / np.float64(0))
    except FloatingPointError as e:
        print("FPE")
old = np.seterr(all="ignore")
np.seterr(**old)
print(np.geterr())

"""save load"""

import numpy as np

R = []
import io

f = io.BytesIO()
a = np.arange(5.0)
np.save(f, a)
f.seek(0)
print(np.load(f))
f = io.BytesIO()
np.savez(f, x=a, y=a * 2)
f.seek(0)
z = np.load(f)
print(sorted(z.files), z["y"])
s = io.StringIO()
np.savetxt(s, a.reshape(1, 5), fmt="%.2f")
print(s.getvalue())
s.seek(0)
print(np.loadtxt(s))
print(
    a.tobytes() == np.arange(5.0).tobytes(), np.frombuffer(a.tobytes()), a.tolist(), a.dumps()[:0]
)
print(np.genfromtxt(io.StringIO("1,2\n3,4"), delimiter=","))

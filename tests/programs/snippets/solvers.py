"""stateful loops"""

import numpy as np

R = []
x = np.linspace(0, 1, 50)
hist = []
for i in range(40):
    x = x - 0.1 * (x**3 - x)
    if i % 10 == 0:
        hist.append(x.max())
    if np.any(np.isnan(x)):
        break
    if abs(x).max() < 1e-9:
        break
print(["%.5f" % h for h in hist])
e = 1.0
n = 0
A = np.diag(np.arange(1.0, 6)) + 0.1
b = np.ones(5)
y = np.zeros(5)
r = b - A @ y
p = r.copy()
rs = r @ r
while rs > 1e-20 and n < 50:
    Ap = A @ p
    al = rs / (p @ Ap)
    y += al * p
    r -= al * Ap
    rn = r @ r
    p = r + (rn / rs) * p
    rs = rn
    n += 1
print(n)
R += [y, A @ y]
v = np.ones(5)
for _ in range(100):
    v = A @ v
    v /= np.linalg.norm(v)
R += [v, v @ A @ v]
w = np.zeros(3)
lr = 0.1
X = np.c_[np.ones(20), np.arange(20) / 20, (np.arange(20) / 20) ** 2]
t = X @ [1, 2, 3]
for _ in range(200):
    w -= lr * X.T @ (X @ w - t) / 20
R += [w]
rng = np.random.default_rng(0)
W1 = rng.normal(size=(4, 8)) * 0.5
W2 = rng.normal(size=(8, 1)) * 0.5
X = rng.normal(size=(30, 4))
Y = (X[:, :1] * X[:, 1:2] > 0) * 1.0
for _ in range(30):
    h = np.tanh(X @ W1)
    o = 1 / (1 + np.exp(-(h @ W2)))
    g = (o - Y) / 30
    d2 = h.T @ g
    d1 = X.T @ ((g @ W2.T) * (1 - h**2))
    W2 -= d2
    W1 -= d1
R += [W1, W2, -(Y * np.log(o) + (1 - Y) * np.log(1 - o)).mean()]

"""autograd: gradients of functions written with its own NumPy."""

import autograd.numpy as anp
import numpy as np
from autograd import elementwise_grad, grad, value_and_grad

x = np.linspace(0.1, 2.0, 700)
loss = lambda w: anp.sum(anp.sin(w) ** 2 + anp.log(w))
print(grad(loss)(x).sum().round(8), elementwise_grad(anp.tanh)(x).sum().round(8))
value, slope = value_and_grad(loss)(x)
print(value.round(8), (slope * x).sum().round(8))
weights = np.ones((30, 30)) * 0.01
model = lambda w: anp.mean(anp.tanh(anp.dot(w, x[:30])) ** 2)
for _ in range(5):
    weights -= 0.1 * grad(model)(weights)
print(weights.sum().round(10))

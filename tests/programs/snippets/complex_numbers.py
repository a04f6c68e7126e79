"""complex"""

import numpy as np

R = []
z = np.linspace(-2, 2, 9) + 1j * np.linspace(1, -1, 9)
R += [
    np.sqrt(z),
    np.log(z),
    z**2,
    z**0.5,
    np.exp(z),
    np.sin(z),
    np.cos(z),
    np.tan(z),
    np.arctan(z),
    np.abs(z),
    np.angle(z),
    z.conj(),
    1 / z,
    z / (1 + z),
    z.real,
    z.imag,
    np.sinh(z),
    z.sum(),
    z.prod(),
    z.mean(),
    z.std(),
    np.isclose(z, z),
    z == z,
    np.sort(z),
    z.astype("c8"),
    np.polyval([1, 2, 3], z),
    np.roots([1, 0, 1]),
    z @ z,
    np.vdot(z, z),
    np.log10(z),
    np.arccos(z),
    np.expm1(z),
    np.sign(z),
    np.maximum(z, 0),
    z.max(),
    np.argmax(z),
    z.cumsum(),
    z**3,
    z**-1,
    2**z,
    np.square(z),
    np.reciprocal(z),
    z.round(1),
    np.log2(z),
    np.log1p(z),
    np.arcsin(z),
    np.arcsinh(z),
    np.arctanh(z / 9),
    np.arccosh(z),
    np.tanh(z),
    np.cosh(z),
    np.power(z, 2.5),
    np.exp2(z),
]
z.real = 3
z.imag[2:] = 0
print(z)
z += 1j
z *= z
print(z)
w = np.zeros(3, complex)
w[1] = 1 + 2j
w.real += [1, 2, 3]
print(w, w.view(float))

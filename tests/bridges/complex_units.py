"""Work units over complex views, as programs write them; the tests run them."""

import fusewright.bridges.pykokkos as pk


@pk.workunit
def arithmetic(i, z, w, out):
    out[0][i] = z[i] + w[i]
    out[1][i] = z[i] - w[i]
    out[2][i] = z[i] * w[i]
    out[3][i] = z[i] / w[i]
    out[4][i] = -z[i] * 2
    out[5][i] = z[i] * z[i].real + w[i].imag


@pk.workunit
def annotated(i: int, z: pk.View1D[pk.complex128], out: pk.View1D[pk.complex128], f: pk.complex128):
    t: pk.complex128 = z[i]
    k: float = t.real
    t = t * f
    t += pk.complex128(k, 1.0)
    if t == f or t.imag > 2:
        t = t / 2
    out[i] = t


@pk.workunit
def sizes(i, z, x):
    x[0][i] = abs(z[i])
    x[1][i] = z[i].real
    x[2][i] = z[i].imag


@pk.workunit
def conjugates(i, z):
    z[i] = conj(z[i])  # noqa: F821


@pk.workunit
def total(i, acc: pk.Acc[pk.complex128], z, w):
    acc += z[i] * w[i]


@pk.workunit
def sums(i, acc: pk.Acc[pk.complex128], last_pass, z, out):
    acc += z[i]
    if last_pass:
        out[i] = acc


@pk.workunit
def gathered(i, z, out):
    pk.atomic_fetch_add(out, [i % 3], z[i])


@pk.workunit
def narrow(i, z, x):
    x[i] = z[i]


@pk.workunit
def rotate(i, z, f):
    z[i] = z[i] * f


@pk.functor
class Oscillators:
    """Points that turn, each at its own speed."""

    def __init__(self, n, step):
        self.z: pk.View1D[pk.complex128] = pk.View([n], pk.complex128)
        self.step: pk.complex128 = step
        self.z.fill(1 + 0.5j)

    @pk.workunit
    def turn(self, i: int):
        self.z[i] = self.z[i] * self.step * (i + 1)

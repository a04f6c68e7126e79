"""Integrals over Gaussian functions: a basis from plain arrays, and the energy of H2 from them.

The code of a class of integrals, (ss|ss) or (dp|ss), is planned and compiled when it is first
needed, and kept on disk.
"""

import numpy as np

from fusewright import integrals

# Two hydrogen atoms 1.4 bohr apart, each with three s primitives contracted to one function
# (STO-3G: Hehre, Stewart, Pople, J. Chem. Phys. 51, 2657 (1969)).
EXPONENTS = [3.42525091, 0.62391373, 0.16885540]
COEFFICIENTS = [0.15432897, 0.53532814, 0.44463454]
places = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.4]])
shells = [(atom, 0, EXPONENTS, COEFFICIENTS) for atom in (0, 1)]  # (atom, l, ...)
basis = integrals.Basis.from_arrays(places, shells, charges=[1.0, 1.0])

s = integrals.overlap(basis)
h = integrals.kinetic(basis) + integrals.nuclear_attraction(basis)
eri = integrals.electron_repulsion(basis)  # (ij|kl), an array of four dimensions
print("overlap", s[0, 1].round(4), " repulsion", eri[0, 0, 0, 0].round(4))

# By symmetry both electrons are in (1s + 1s'), so the Hartree-Fock energy needs no iteration.
orbital = np.ones(2) / np.sqrt(2 + 2 * s[0, 1])
core = orbital @ h @ orbital
coulomb = np.einsum("i,j,k,l,ijkl->", *[orbital] * 4, eri)
energy = 2 * core + coulomb + 1 / 1.4
print(f"energy {energy:.4f} hartree")  # Szabo and Ostlund, table 3.11: -1.117
assert abs(energy + 1.1167) < 1e-4

# Other operators are the same code with other leaves: erf(w r)/r and erfc(w r)/r add up to 1/r.
far = integrals.electron_repulsion(basis, operator=integrals.long_range(0.4))
near = integrals.electron_repulsion(basis, operator=integrals.short_range(0.4))
np.testing.assert_allclose(far + near, eri, rtol=1e-13)

# Parts of the array by ranges of shells; the dipole matrix; bounds for screening.
first = integrals.electron_repulsion(basis, [(0, 1), None, None, slice(1, 2)])
print("shape", first.shape, " z between both", integrals.dipole(basis)[2, 0, 1].round(4))
q = integrals.schwarz(basis)
assert (np.abs(eri) <= q[:, :, None, None] * q * (1 + 1e-14)).all()

# What makes no sense is refused by name.
try:
    integrals.Basis.from_arrays(places, [(0, 2, [0.8, -0.1], [1.0, 1.0])])
except ValueError as error:
    print(error)

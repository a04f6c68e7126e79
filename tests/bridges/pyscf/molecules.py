"""Molecules of several tests; a basis of s and d functions."""

from pyscf import gto

WATER = "O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59"
PEROXIDE = "H 0.9 0.8 0.4; O 0 0.7 0; O 0 -0.7 0; H -0.9 -0.8 0.4"
S_AND_D = {"H": gto.basis.parse("H S\n 1.2 0.4\n 0.3 0.6\nH D\n 0.9 1.0")}

"""Types of `fusewright.numpy.linalg`, from those of NumPy 2.4: see tools/make_stubs.py."""

from numpy.linalg import LinAlgError as LinAlgError
from numpy.linalg import cholesky as cholesky
from numpy.linalg import cond as cond
from numpy.linalg import cross as cross
from numpy.linalg import det as det
from numpy.linalg import diagonal as diagonal
from numpy.linalg import eig as eig
from numpy.linalg import eigh as eigh
from numpy.linalg import eigvals as eigvals
from numpy.linalg import eigvalsh as eigvalsh
from numpy.linalg import inv as inv
from numpy.linalg import lstsq as lstsq
from numpy.linalg import matmul as matmul
from numpy.linalg import matrix_norm as matrix_norm
from numpy.linalg import matrix_power as matrix_power
from numpy.linalg import matrix_rank as matrix_rank
from numpy.linalg import matrix_transpose as matrix_transpose
from numpy.linalg import multi_dot as multi_dot
from numpy.linalg import norm as norm
from numpy.linalg import outer as outer
from numpy.linalg import pinv as pinv
from numpy.linalg import qr as qr
from numpy.linalg import slogdet as slogdet
from numpy.linalg import solve as solve
from numpy.linalg import svd as svd
from numpy.linalg import svdvals as svdvals
from numpy.linalg import tensordot as tensordot
from numpy.linalg import tensorinv as tensorinv
from numpy.linalg import tensorsolve as tensorsolve
from numpy.linalg import trace as trace
from numpy.linalg import vecdot as vecdot
from numpy.linalg import vector_norm as vector_norm

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

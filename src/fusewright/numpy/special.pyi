"""Types of `fusewright.numpy.special`, from those of NumPy 2.4: see tools/make_stubs.py."""

from typing import Any

from numpy.typing import ArrayLike, DTypeLike, NDArray

def erf(
    x: ArrayLike,
    /,
    out: NDArray[Any] | tuple[NDArray[Any]] | None = ...,
    *,
    where: ArrayLike = ...,
    casting: str = ...,
    order: str = ...,
    dtype: DTypeLike = ...,
    subok: bool = ...,
    signature: Any = ...,
) -> NDArray[Any]:
    """The error function of each element."""

def erfc(
    x: ArrayLike,
    /,
    out: NDArray[Any] | tuple[NDArray[Any]] | None = ...,
    *,
    where: ArrayLike = ...,
    casting: str = ...,
    order: str = ...,
    dtype: DTypeLike = ...,
    subok: bool = ...,
    signature: Any = ...,
) -> NDArray[Any]:
    """The complementary error function of each element."""

def gamma(
    x: ArrayLike,
    /,
    out: NDArray[Any] | tuple[NDArray[Any]] | None = ...,
    *,
    where: ArrayLike = ...,
    casting: str = ...,
    order: str = ...,
    dtype: DTypeLike = ...,
    subok: bool = ...,
    signature: Any = ...,
) -> NDArray[Any]:
    """The gamma function of each element."""

def gammaln(
    x: ArrayLike,
    /,
    out: NDArray[Any] | tuple[NDArray[Any]] | None = ...,
    *,
    where: ArrayLike = ...,
    casting: str = ...,
    order: str = ...,
    dtype: DTypeLike = ...,
    subok: bool = ...,
    signature: Any = ...,
) -> NDArray[Any]:
    """The logarithm of the gamma function's magnitude of each element."""

def j0(
    x: ArrayLike,
    /,
    out: NDArray[Any] | tuple[NDArray[Any]] | None = ...,
    *,
    where: ArrayLike = ...,
    casting: str = ...,
    order: str = ...,
    dtype: DTypeLike = ...,
    subok: bool = ...,
    signature: Any = ...,
) -> NDArray[Any]:
    """The Bessel function of the first kind of order 0 of each element."""

def j1(
    x: ArrayLike,
    /,
    out: NDArray[Any] | tuple[NDArray[Any]] | None = ...,
    *,
    where: ArrayLike = ...,
    casting: str = ...,
    order: str = ...,
    dtype: DTypeLike = ...,
    subok: bool = ...,
    signature: Any = ...,
) -> NDArray[Any]:
    """The Bessel function of the first kind of order 1 of each element."""

__all__ = [
    "erf",
    "erfc",
    "gamma",
    "gammaln",
    "j0",
    "j1",
]

"""The public array: a lazy, mutable handle with NumPy's semantics.

`Array` owns its value.  `View` finds its value in another handle's and writes there.  `Scalar` is
the immutable result of a full reduction or of full indexing, `Masked` that of a boolean index.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.later import later
from fusewright.frontends.arrays import (
    core,
    front,
    inplace,
    items,
    masking,
    sharing,
    trace,
)
from fusewright.frontends.arrays import dtypes as rules
from fusewright.frontends.arrays.core import Handle, cast
from fusewright.frontends.arrays.masking import MaskedOperators
from fusewright.frontends.arrays.methods import Methods
from fusewright.frontends.arrays.operators import Operators
from fusewright.frontends.arrays.protocols import Protocols
from fusewright.frontends.arrays.scalars import ScalarOperations
from fusewright.frontends.arrays.views import Link, Reshape, Slice, Window, nearest
from fusewright.ir.dtypes import ALL, DType
from fusewright.ir.graph import LEAF, Node

if TYPE_CHECKING:
    from fusewright.frontends.arrays import strided
else:
    strided = later("fusewright.frontends.arrays.strided")


class Array(Operators, Methods, Protocols, Handle):
    """A lazy array.  Make one with `asarray`, `zeros`, `arange`, ... or by computing with one.

    It has the operators, methods and attributes of `numpy.ndarray`, and is one to `isinstance` of
    the drop-in's `ndarray`.  Operations are recorded; they run when a value is asked for: by
    `float()`, `if`, printing, `numpy.asarray`, iteration, `fw.evaluate`, other libraries.  Shape
    and dtype are known at once, and so are errors in them.

    Raises:
        TypeError: when called; arrays are made by functions.

    Examples:
        >>> import fusewright as fw, fusewright.numpy as np
        >>> x = np.arange(6000.0).reshape(2000, 3)
        >>> y = (x * x).sum(axis=0)  # recorded
        >>> y.shape, y.dtype, isinstance(x, fw.Array), isinstance(x, np.ndarray)
        ((3,), dtype('float64'), True, True)
        >>> float(y[0])  # computed
        23982003000.0
    """

    __slots__ = ()

    _base: Handle | None = None

    def __init__(self) -> None:
        raise TypeError("arrays are made with asarray, zeros, empty, ...")

    def _write(self, node: Node) -> None:
        inplace.write_root(self, node)


class View(Array):
    """An array whose elements live in another one."""

    __slots__ = ("_base", "_cached", "_link", "_version")

    _base: Handle
    _link: Link
    _version: Node | None
    _cached: Any

    if native is None:  # else the core's own attribute answers, for views as well

        @property
        def _node(self) -> Node:  # type: ignore[override]
            base = self._base._node
            version, cached = self._version, self._cached  # in this order: threads set the other
            # A leaf's view is a leaf: it replaces the view recorded while the base was pending.
            stale = version is not base or cached is None
            if stale or (base.kind == LEAF and cached.kind != LEAF):
                self._cached = cached = self._link.get(base)
                self._version = base
            return cached  # type: ignore[no-any-return]

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._link.shape

    @property
    def _dtype(self) -> DType:
        return self._node.dtype

    def _write(self, node: Node) -> None:
        with trace.lock:  # another thread's write meanwhile would be lost
            base, link = nearest(self._base, self._link)
            if link.writes_through:
                items.write_through(self, (node,), strided.write_all)
            else:
                base._write(link.put(base._node, node))
        self._version = self._cached = None  # let the old version go


class Masked(MaskedOperators, Array):
    """The elements of a value where a mask holds, until something needs them picked out or writes
    to them: it is an `Array` then.
    """

    __slots__ = ()

    @property
    def _node(self) -> Node:
        return masking.node_of(self)

    @_node.setter
    def _node(self, node: Node) -> None:
        masking.become(self, node)

    @property
    def _dtype(self) -> DType:
        return (masking.parts(self) or (self._node,))[0].dtype

    @property
    def _shape(self) -> tuple[int, ...]:
        found = masking.parts(self)
        if found is None:
            return self._node.shape
        return (int(np.count_nonzero(sharing.content_of(found[1]))),)

    def copy(self, order: str = "C") -> Handle:
        """A new array with the same values."""
        found = masking.parts(self)
        return Array.copy(self, order) if found is None else masking.alike(self, found[0])

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Handle:
        """The values in another element type."""
        found = masking.parts(self)
        if found is None or args or kwargs:
            return Array.astype(self, dtype, *args, **kwargs)  # type: ignore[no-any-return]
        return masking.alike(self, cast(found[0], rules.as_dtype(dtype)))


class Scalar(ScalarOperations, Array):  # type: ignore[misc]
    """A lazy number: immutable and hashable, like NumPy's scalars."""

    __slots__ = ()


numbers.Number.register(Scalar)
core.array_class = Array
core.view_class = View  # type: ignore[assignment]  # what types say of it is `core.ViewHandle`
core.scalar_class = Scalar
core.masked_class = Masked
core.handle_classes = frozenset((Array, View, Scalar))
for part in Array.__mro__[:-2]:  # `help(x.sum)`
    for name, member in vars(part).items():
        if name[0] != "_":
            front.complete(member, getattr(np.ndarray, name, None), f"ndarray.{name}")
if native is not None:
    native.set_classes(Array, Scalar, View)
    native.set_subscripts(Slice, items.getitem, items.setitem, items.delitem)
    native.set_reshape(Reshape)
    native.set_window(Window)
    front.quicken(Methods)
    front.connect(np._core._multiarray_umath._ARRAY_API)  # type: ignore[attr-defined]
    native.set_conversions(Protocols.__float__, Protocols.__int__, Protocols.__bool__)
    native.set_converters(tuple(row.numpy.type for row in ALL))

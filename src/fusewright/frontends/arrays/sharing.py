"""Memory that crosses the border to NumPy: copied in, adopted, shared, lent out.

Memory that somebody outside can write or see is `external`: every statement that touches it is
complete when it returns (unless inside `lazy()`), so that laziness is never visible.  While any
is about, the trace's gate is closed.
"""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from contextlib import ContextDecorator
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fusewright._core import native
from fusewright.base.errors import OutOfMemory
from fusewright.base.figures import COPIED_BYTES, LINE
from fusewright.base.later import later
from fusewright.frontends.arrays import core, trace
from fusewright.frontends.arrays.core import READ_ONLY, Handle
from fusewright.frontends.arrays.dtypes import as_dtype, row_of
from fusewright.ir.dtypes import from_numpy
from fusewright.ir.graph import LEAF, MAP, Memory, Node, contiguous_strides, is_shared, leaf

if TYPE_CHECKING:
    from fusewright.base import interruptions
else:
    interruptions = later("fusewright.base.interruptions")

NDArray = np.ndarray[Any, np.dtype[Any]]


def numpy_array(value: Any, dtype: Any = None) -> NDArray:
    """NumPy's array of anything; an `__array__` method may well answer with an array of ours."""
    convert = getattr(type(value), "__array__", None)
    if convert is not None and not isinstance(value, np.ndarray | np.generic):
        made = convert(value)
        value = content(made) if isinstance(made, Handle) else made
    return np.asarray(value, dtype)


def snapshot(array: NDArray) -> Node:
    """A value that later writes to the array do not change: a copy, or the array where nobody can
    write to it.
    """
    return adopted(array) if is_adoptable(array) and is_frozen(array) else copied(array)


def copied(array: NDArray, order: Literal["K", "C"] = "K") -> Node:
    """A copy in native byte order, as NumPy lays out a copy."""
    row = row_of(array.dtype)
    try:
        if array.nbytes < COPIED_BYTES:
            fresh = np.array(array, dtype=row.numpy, order=order, copy=True, subok=False)
        else:
            fresh = _at_a_line(array.nbytes).view(row.numpy)
            like = array if order == "C" else np.empty_like(array, order="K", subok=False)
            fresh = _shaped(fresh, like, order)
            np.copyto(fresh, array)
    except MemoryError as error:
        raise out_of_memory(array.nbytes) from error
    return adopted(fresh)


def _shaped(flat: NDArray, like: NDArray, order: str) -> NDArray:
    """Memory as an array of another's shape, and its layout unless C's is wanted."""
    if order == "C" or like.flags.c_contiguous:
        return flat.reshape(like.shape)
    dims = sorted(range(like.ndim), key=lambda dim: -like.strides[dim])
    turned = flat.reshape([like.shape[dim] for dim in dims])
    return turned.transpose(np.argsort(dims))


def _at_a_line(nbytes: int) -> NDArray:
    """Bytes that begin where a cache line does: NumPy's own memory seldom does, and every vector
    that is read across two lines is two reads.
    """
    room = np.empty(nbytes + LINE, np.uint8)
    skip = -_address(room) % LINE
    return room[skip : skip + nbytes]


def out_of_memory(nbytes: int) -> OutOfMemory:
    """What to say when an allocation fails."""
    # Imported here: most programs have the memory they ask for.
    from fusewright.base.words import memory

    return OutOfMemory(
        f"cannot allocate {memory(nbytes)}",
        help="release arrays you no longer need, or work in smaller pieces",
    )


_WRITABLE = 0x400
"""`NPY_ARRAY_WRITEABLE`."""


def is_writable(array: NDArray) -> bool:
    """Whether an array can be written: `flags.writeable`, without the warning that this gives of
    what `np.broadcast_arrays` made, where nobody writes.
    """
    return bool(array.flags.num & _WRITABLE)


def is_frozen(array: NDArray) -> bool:
    """Whether neither this array nor any it looks into can be written."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if is_writable(base):
            return False
        base = base.base
    return base is None or isinstance(base, bytes)


def is_adoptable(array: NDArray) -> bool:
    """Whether an array's memory can be a value's: one piece of elements in the machine's byte
    order, the dims in any order.
    """
    flags = array.flags if array.flags.c_contiguous else _by_memory(array).flags
    return bool(flags.c_contiguous and flags.aligned and array.dtype.isnative)


def _by_memory(array: NDArray) -> NDArray:
    """The array with its dims from the outermost to the innermost in memory."""
    if array.flags.c_contiguous:
        return array
    return array.transpose(sorted(range(array.ndim), key=lambda dim: -array.strides[dim]))


def owned(array: NDArray) -> Node:
    """An array nobody else can write to as a value: its memory, or a copy."""
    return adopted(array) if is_adoptable(array) else copied(array)


def adopted(array: NDArray) -> Node:
    """An adoptable array nobody else can write to becomes a value as it is."""
    made: Node | None = None if native is None else native.leaf_on(array)
    if made is not None:
        return made
    row = as_dtype(array.dtype)
    assert is_adoptable(array), "only native elements side by side are values as they are"
    flat = _by_memory(array).reshape(-1).view(np.uint8)
    memory = Memory(_address(array), array.nbytes, flat, False, is_writable(array))
    trace.note_bytes(array.nbytes)
    straight = array.flags.c_contiguous
    strides = contiguous_strides(array.shape, row.itemsize) if straight else array.strides
    return leaf(memory, row, array.shape, 0, strides)


def _address(array: NDArray) -> int:
    return int(array.__array_interface__["data"][0])


def shared(array: NDArray) -> Node:
    """A value that *is* the array's memory, whoever writes to it."""
    row = as_dtype(array.dtype)
    low, high = np.lib.array_utils.byte_bounds(array)
    owner = (ctypes.c_char * (high - low)).from_address(low)
    owner._keeps = array  # type: ignore[attr-defined]
    trace.watch(1)
    weakref.finalize(owner, trace.watch, -1).atexit = False
    memory = Memory(low, high - low, owner, True, is_writable(array))
    return leaf(memory, row, array.shape, _address(array) - low, array.strides)


def window(node: Node) -> NDArray:
    """A NumPy array on a leaf's memory, for reading at once: it must not leave this package."""
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)


def private(node: Node) -> Node:
    """The value itself; of shared memory its present content, and of what a broadcast view repeats
    an element at each place, because the new holder may write to them.
    """
    if is_shared(node):
        return copied(window(node))
    return renewed(node) if node.kind == LEAF and _is_repeated(node) else node


def _is_repeated(stored: Node) -> bool:
    """Whether a value shows one place of its memory as several elements."""
    strides = stored.value[2]
    return 0 in strides and any(
        step == 0 and extent > 1 for step, extent in zip(strides, stored.shape, strict=True)
    )


def renewed(node: Node) -> Node:
    """The value as a new one, of which nothing is known but that it lies in C order."""
    same = trace.record(Node(MAP, "cast", (node,), node.dtype, node.shape))
    same.layout = None
    return same


core.private = private
if native is not None:
    native.set_private(private)


def duplicate(node: Node) -> Node:
    """The value for another holder: it is shared, but a part of what lies in memory is copied, or a
    write to the rest would have to copy all of it.
    """
    size = math.prod(node.shape) * node.dtype.itemsize
    if node.kind == LEAF and node.shape and node.value[0].nbytes > size:
        return copied(window(node))
    return private(node)


def content_of(node: Node) -> NDArray:
    """A recorded value, computed now, for reading at once."""
    if node.kind != LEAF:
        trace.evaluate(node)
    return window(node)


def content(handle: Handle) -> NDArray:
    """The handle's value for reading at once, laid out as NumPy would."""
    node = stored_node(handle)
    array = content_of(node)
    return array if node.layout is None else _in_order(array, node.layout)


def _in_order(array: NDArray, layout: tuple[int, ...]) -> NDArray:
    """An array whose dims lie in the order of other strides: a copy, where one was stored by itself
    in C order before what it is a part of.
    """
    dims = sorted(range(array.ndim), key=lambda dim: -abs(layout[dim]))
    steps = [abs(array.strides[dim]) for dim in dims if array.shape[dim] > 1]
    if steps == sorted(steps, reverse=True):
        return array
    copy = np.empty([array.shape[dim] for dim in dims], array.dtype)
    turned = copy.transpose(np.argsort(dims))
    turned[...] = array
    return turned


def stored_node(handle: Handle) -> Node:
    """The handle's value; where its dims lie in another order than C's, as a part of what is
    stored: stored by itself it would lie in C order.
    """
    node = handle._node
    if node.kind == LEAF or node.layout is None or handle._base is None:
        return node
    base = handle._base
    while base._base is not None:
        base = base._base
    trace.evaluate(base._node)
    return handle._node


def land(handle: Handle, old: Node, node: Node) -> None:
    """A new version of shared memory is written into that memory, now or when the `lazy()` block
    ends.
    """
    if trace.is_lazy():
        lazy_block.owed.setdefault(id(handle), (handle, old))
        if native is not None:
            native.stop_lending(handle)
        handle._node = private(node)
    else:
        _put(handle, old, node)


def _put(handle: Handle, old: Node, node: Node) -> None:
    trace.evaluate(node)
    memory, offset, strides = old.value
    if node.value != old.value:
        window(old)[...] = window(node)
    handle._node = leaf(memory, old.dtype, old.shape, offset, strides)


class _Block(threading.local):
    """What a thread's `lazy()` block has put off: handles with what they held when it began, by
    their numbers; and handles on NumPy arrays that kernels were given.
    """

    def __init__(self) -> None:
        self.owed: dict[int, tuple[Handle, Node]] = {}
        self.borrowed: dict[Any, Handle] = {}


lazy_block = _Block()


class lazy(ContextDecorator):
    """Let statements on shared memory stay pending; everything has landed when the block ends.

    In the block nobody else may look at NumPy's arrays that our arrays share memory with, or that
    kernels write into.  `sync()` lets all land at once.

    Examples:
        >>> import numpy, fusewright as fw
        >>> plain = numpy.zeros(1000)
        >>> shared = fw.asarray(plain, copy=False)
        >>> with fw.lazy():
        ...     shared += 1.0  # recorded
        ...     shared *= 2.0  # and run with it, in one pass
        >>> float(plain[0])
        2.0
    """

    def __enter__(self) -> None:
        trace.enter_lazy(1)
        if native is not None:
            native.enter_lazy(1, lazy_block.owed)

    def __exit__(self, *error: object) -> None:
        trace.enter_lazy(-1)
        try:
            if not trace.is_lazy():
                settle()
        finally:
            if native is not None:  # only now: what is lent is this thread's until it has landed
                native.enter_lazy(-1, lazy_block.owed)


def settle() -> None:
    """Let everything pending on shared memory land."""
    lazy_block.borrowed.clear()
    try:
        _land_all()
    finally:
        if native is not None:  # only now: what is still held of a loan ends it
            native.end_loans()


def _land_all() -> None:
    owed = list(lazy_block.owed.values())
    lazy_block.owed.clear()
    trace.evaluate(*trace.reading_shared_memory())
    for handle, old in owed:
        if native is None or not native.land(handle, old):
            _put(handle, old, handle._node)


def borrowed(array: NDArray) -> Handle:
    """A handle on the array's memory for the rest of the `lazy()` block."""
    lent = None if native is None else native.lend(array)
    if lent is not None:
        return lent  # type: ignore[no-any-return]
    key = (_address(array), array.shape, array.strides, array.dtype, is_writable(array))
    found = lazy_block.borrowed.get(key)
    if found is None:
        found = lazy_block.borrowed[key] = core.array_on(shared(array))
        if native is not None:
            native.stop_lending(found)
    return found


def _lent_leaf(array: NDArray) -> Node | None:
    """A value that is the memory of a C-ordered array; the core holds the array meanwhile."""
    row = from_numpy(array.dtype)
    if row is None or not array.ndim or not array.nbytes:
        return None
    memory = Memory(_address(array), array.nbytes, array, True, is_writable(array))
    return leaf(memory, row, array.shape, 0, contiguous_strides(array.shape, row.itemsize))


def _lends() -> bool:
    """Whether this NumPy's arrays are laid out as the core reads them."""
    array = np.zeros((2, 3))
    address = id(array)
    try:
        fields = [ctypes.c_int64.from_address(address + at).value for at in (16, 32, 40, 56)]
        rank, flags = (ctypes.c_int.from_address(address + at).value for at in (24, 64))
        extents = ctypes.c_int64.from_address(fields[1]), ctypes.c_int64.from_address(fields[1] + 8)
    except ValueError:
        return False
    shape = tuple(each.value for each in extents)
    right = fields[0] == _address(array) and fields[3] == id(array.dtype)
    return right and rank == 2 and shape == array.shape and flags & 0x501 == 0x501


def home(handle: Handle) -> Memory | None:
    """The shared memory that a handle's value is in, or lands in."""
    owed = lazy_block.owed.get(id(handle))
    node = owed[1] if owed is not None else handle._node
    return node.value[0] if is_shared(node) else None


def owes_others(handle: Handle) -> bool:
    """Whether another handle's new value is to land in this one's memory."""
    memory = home(handle)
    return memory is not None and any(
        overlap(memory, old.value[0])
        for other, old in lazy_block.owed.values()
        if other is not handle
    )


def overlap(a: Memory, b: Memory) -> bool:
    """Whether two blocks of memory share bytes."""
    return a.address < b.address + b.nbytes and b.address < a.address + a.nbytes


_loans: dict[int, weakref.ref[Any]] = {}
"""By memory, the object every NumPy array lent out is based on: when it dies, the memory is ours
alone again.
"""


def forget_value(handle: Any) -> None:
    """Let go what views on the way to the root remember of it."""
    while type(handle) is core.view_class:
        handle._version = handle._cached = None
        handle = handle._base


def lend(handle: Handle, root: Handle, writes: bool = True) -> NDArray:
    """A NumPy array on the handle's own memory; writes on either side are seen on the other while
    it lives.  Without `writes`, nobody can make it writable.
    """
    forget_value(handle)  # it holds the memory, too
    owner = _lent_memory(root)
    if not writes:
        # Not the memoryview itself: NumPy would look through it, at what can be written.
        owner = np.frombuffer(memoryview(owner).toreadonly(), np.uint8)
    node = handle._node
    if node.kind != LEAF:
        trace.evaluate(node)
    _, offset, strides = node.value
    array: NDArray = np.ndarray(node.shape, node.dtype.numpy, owner, offset, strides)
    if handle._flags & READ_ONLY or not node.value[0].writable:
        array.flags.writeable = False
    return array


def _lent_memory(root: Handle) -> Any:
    """The loan on a root's memory, which other values no longer use."""
    if root._node.kind != LEAF:
        trace.evaluate(root._node)
    memory = root._node.value[0]
    if memory.external:
        loan = _loans.get(id(memory))
        found = loan and loan()
        if found is None and native is not None and memory.readers:
            return _open_loan(memory)  # it is being read, by nobody who says so here
        return found or memory.owner
    if not _is_exclusive(root):
        memory = copied(window(root._node), "C").value[0]
    node = root._node
    strides = contiguous_strides(node.shape, node.dtype.itemsize)
    # A new node: views notice, and cached values of the old one stay what they were.
    root._node = leaf(memory, node.dtype, node.shape, 0, strides)
    return _open_loan(memory)


def _is_exclusive(root: Handle) -> bool:
    """Whether the memory is the root's alone, writable, and laid out as NumPy would."""
    node = root._node
    memory, offset, strides = node.value
    straight = strides == contiguous_strides(node.shape, node.dtype.itemsize) and offset == 0
    # The holder's reference, the variable's and the call's; the memory has the caller's variable
    # besides.  (Not of a variable: see runtime.reuse.)
    alone = getrefcount(root._node) <= 3 and getrefcount(node.value[0]) <= 4
    return alone and straight and memory.writable


def _open_loan(memory: Memory) -> Any:
    # Not an ndarray: NumPy would look through it for the array's base.
    loan = (ctypes.c_char * memory.nbytes).from_address(memory.address)
    loan._keeps = memory  # type: ignore[attr-defined]
    memory.external = True
    trace.watch(1)
    key = id(memory)

    def close(_: Any) -> None:
        memory.external = False
        del _loans[key]
        trace.watch(-1)

    _loans[key] = weakref.ref(loan, interruptions.outlasting(close))
    return loan


def received(cell: list[NDArray]) -> Node:
    """A result NumPy just made, the one item of a list: adopted where nothing else holds it, copied
    otherwise.
    """
    # 2: the list's reference and the call's; a view's memory is somebody else's.
    mine = getrefcount(cell[0]) <= 2 and cell[0].base is None
    array = cell[0]
    return owned(array) if mine else copied(array)


if native is not None and _lends():
    native.set_lending(np.ndarray, _lent_leaf)

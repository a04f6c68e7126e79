"""Who runs a call: the recorder where an operand is an array it knows, NumPy where none is ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import chain
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

from fusewright.base.errors import UnsupportedError
from fusewright.frontends.arrays import (
    agreement,
    core,
    creation,
    layouts,
    opaque,
    record,
    reductions,
)
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.dtypes import as_dtype
from fusewright.frontends.arrays.front import at_once
from fusewright.frontends.arrays.shaping import as_base
from fusewright.ir.graph import ASSEMBLE, VIEW, Node

NO_VALUE: Any = reductions.NO_VALUE
LIBRARY = opaque.LIBRARY
Function = Callable[..., Any]
_KNOWN = frozenset((int, float, complex, bool, list, tuple, slice, NoneType, EllipsisType, str))
MOST_LISTED = 64
"""Items of a list that are looked at: longer ones are numbers."""
_SCALARS = (int, float, complex, np.generic)


class NotRecorded(Exception):
    """Raised by a recording function that has no recorded form of these arguments: NumPy runs
    them.
    """


def is_foreign(value: Any) -> bool:
    """Whether only NumPy (or another library's own protocol) knows what to do with a value."""
    kind = type(value)
    if kind in _KNOWN or issubclass(kind, Handle):
        return False
    if kind is np.ndarray or isinstance(value, np.generic):
        return opaque.from_numpy_or_none(value.dtype) is None
    protocol = getattr(kind, "__array_ufunc__", None) or getattr(kind, "__array_function__", None)
    return protocol is not None


def holds_foreign(value: Any) -> bool:
    """Whether a value, or an item of a list, is foreign: functions of several arrays ask all."""
    if type(value) is list or type(value) is tuple:
        return 0 < len(value) <= MOST_LISTED and any(map(holds_foreign, value))
    return is_foreign(value)


def asking(original: Function) -> Callable[[Function], Function]:
    """Make a function that only asks about its operands stand for NumPy's: other classes answer for
    themselves.
    """

    def decorate(function: Function) -> Function:
        @wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if any(map(holds_foreign, args)):
                return hand_over(original.__name__, original, args, kwargs, opaque.FOREIGN)
            return function(*args, **kwargs)

        return call

    return decorate


def is_scalar(value: Any) -> bool:
    """A Python or NumPy number (a lazy scalar is none: its value is not known yet)."""
    return isinstance(value, _SCALARS) and not isinstance(value, Handle)


def holds_array(value: Any) -> bool:
    """Whether one of our arrays is among (nested) arguments."""
    if isinstance(value, Handle):
        return True
    if type(value) is list or type(value) is tuple:
        return any(map(holds_array, value))
    return isinstance(value, dict) and any(map(holds_array, value.values()))


def is_ours(value: Any) -> bool:
    """Whether recording a call on this operand pays: one of our arrays, a list of some, or a
    NumPy array.
    """
    return isinstance(value, np.ndarray) or holds_array(value)


def ndim_of(value: Any) -> int:
    """The number of dims: `np.ndim` without asking the array protocols."""
    ndim = getattr(value, "ndim", None)
    return np.ndim(value) if ndim is None else int(ndim)


def handle_of(value: Any) -> Any:
    """The array itself, or a new one of a NumPy array, list or number; never a lazy scalar."""
    if isinstance(value, Handle):
        return as_base(value)
    return nested(value)


def viewed(value: Any) -> Any:
    """The array itself, or one on the memory of NumPy's: what a function makes views of."""
    if isinstance(value, np.ndarray):
        return creation.asarray(value, copy=False)
    return handle_of(value)


def node_of(value: Any) -> Node:
    """The recorded value of any operand."""
    if type(value) in (list, tuple):
        value = nested(value)
    return record.node_of(value)


def nested(value: Any) -> Any:
    """An array of nested lists; where they hold arrays of ours that are not in memory, these are
    assembled and not computed.
    """
    if type(value) not in (list, tuple) or not holds_array(value):
        return creation.asarray(value)
    return _joined(value)


def _assembled(value: Any) -> Any:
    parts = [nested(item) for item in value]
    nodes = [part._node for part in parts]
    shape = nodes[0].shape
    if any(node.shape != shape for node in nodes):
        return creation.asarray(value)  # NumPy says what is wrong
    dtype = as_dtype(np.result_type(*(node.dtype.numpy for node in nodes)))
    return core.wrap_array(stacked([core.cast(node, dtype) for node in nodes], 0))


_joined = at_once(np.array, _assembled, makes="array")


def stacked(nodes: Sequence[Node], axis: int) -> Node:
    """Values of one shape and type along a new axis."""
    first = nodes[0]
    shape = (*first.shape[:axis], len(nodes), *first.shape[axis:])
    rank = len(shape)
    places = tuple((dim if dim < axis else dim + 1, 0, 1) for dim in range(rank - 1))
    piece = (*shape[:axis], 1, *shape[axis + 1 :])
    args = tuple(core.record(VIEW, (node,), node.dtype, piece, places) for node in nodes)
    attr = tuple(
        tuple((number if dim == axis else 0, 1) for dim in range(rank))
        for number in range(len(nodes))
    )
    return layouts.joined(core.record(ASSEMBLE, args, first.dtype, shape, attr))


def hand_over(
    name: str,
    original: Function,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    why: str = opaque.DELEGATED,
) -> Any:
    """NumPy runs the call now, as a named step."""
    kwargs = dict(kwargs or {})
    if why is not LIBRARY and not holds_array((args, kwargs)):
        return opaque.from_numpy_result(original(*args, **kwargs))  # none of our business
    return opaque.delegate(name, original, args, kwargs, why)


def recorded(
    original: Function, *, host: bool = False, name: str = ""
) -> Callable[[Function], Function]:
    """Make a recording function stand for NumPy's: what it does not take is handed over.

    `host`: plain Python lists and numbers are NumPy's at once (their reduction is a number).
    """
    label = name or original.__name__

    def decorate(function: Function) -> Function:
        @wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = (*args, *kwargs.values())
            if host and given and not is_ours(given[0]) and not holds_array((args, kwargs)):
                return opaque.from_numpy_result(original(*args, **kwargs))
            if any(map(holds_foreign, given)):
                return hand_over(label, original, args, kwargs, opaque.FOREIGN)
            usual = agreement.is_usual(original, args, kwargs)
            if not usual and label not in VIEWS:
                return hand_over(label, original, args, kwargs, agreement.WHY)
            refused: list[Exception] = []  # no variable of this frame holds what holds the frame
            try:
                if not usual:
                    agreement.check(original, args, kwargs)
                if label in RANKED and agreement.is_doubtful(args, kwargs):
                    return agreement.agreed(label, original, function, args, kwargs)
                return function(*args, **kwargs)
            except (NotRecorded, UnsupportedError) as reason:
                why = _why_numpy(reason)  # who is not asked here: its errors would come of this one
            except agreement.REFUSALS as error:
                refused.append(error)
            if refused:
                return agreement.settled(refused.pop(), label, original, args, kwargs)
            return hand_over(label, original, args, kwargs, why)

        def judge(args: Any, kwargs: dict[str, Any]) -> Any:
            foreign = any(map(holds_foreign, chain(args, kwargs.values())))
            return not foreign and agreement.judged(original, args, kwargs, label in RANKED)

        ours_only = label in VIEWS or label in KEEPS or label in CALLERS
        step = None if ours_only else by_numpy(original, call)
        return agreement.remembering(function, call, judge, step)

    return decorate


def _why_numpy(reason: NotRecorded | UnsupportedError) -> str:
    if isinstance(reason, UnsupportedError):
        return "a dtype without a compiled form"
    return str(reason) or opaque.DELEGATED


RANKED_NAMES = """
all allclose amax amin any argmax argmin argsort around average clip count_nonzero cumprod cumsum
cumulative_prod cumulative_sum isclose max mean min nan_to_num nancumprod nancumsum nanmax nanmean
nanmin nanprod nanstd nansum nanvar prod ptp round sort std sum trapezoid var
"""
RANKED = frozenset(RANKED_NAMES.split())
WRITING = "copyto put place putmask fill_diagonal put_along_axis nan_to_num shuffle partition"
VIEWING = (
    "split array_split hsplit vsplit dsplit broadcast_to broadcast_arrays atleast_1d atleast_2d "
    "atleast_3d expand_dims squeeze moveaxis rollaxis swapaxes transpose permute_dims reshape "
    "ravel diagonal diag flip fliplr flipud rot90 real imag require asarray asanyarray trim_zeros "
    "ascontiguousarray asfortranarray asarray_chkfinite matrix_transpose unstack meshgrid ix_ "
    "sliding_window_view as_strided"
)
ASKING = "shares_memory may_share_memory isfortran iterable isscalar ndim shape size"
CALLING = "apply_along_axis apply_over_axes nditer from_dlpack frombuffer"
KEEPS = frozenset(f"{WRITING} {VIEWING} {ASKING} {CALLING}".split())
"""Functions that write into an operand, give views of one, ask about it, or hand it to a function:
with an array of ours among their operands they are the drop-in's own."""
VIEW_NAMES = """
atleast_1d atleast_2d atleast_3d diagonal expand_dims flip fliplr flipud moveaxis permute_dims ravel
rollaxis rot90 squeeze swapaxes transpose matrix_transpose
"""
VIEWS = frozenset(VIEW_NAMES.split())
"""Functions whose results are views: ours make them whatever kind of integer the arguments are."""
"""Functions that are right for the real arrays where they are for stand-ins of the same types."""


def library(original: Function, name: str = "") -> Function:
    """A library step whose result depends on the data (its shape, or whether it raises): NumPy
    runs it at once.
    """
    label = name or original.__name__

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not holds_array((args, kwargs)):
            return opaque.from_numpy_result(original(*args, **kwargs))
        return hand_over(label, original, args, kwargs, LIBRARY)

    return by_numpy(original, call)


def delegated(original: Function, name: str = "") -> Function:
    """A function the drop-in lacks: NumPy runs it, `explain` names it, `strict=True` refuses it."""
    label = name or getattr(original, "__name__", repr(original))

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not holds_array((args, kwargs)):
            return opaque.from_numpy_result(original(*args, **kwargs))
        return hand_over(label, original, args, kwargs)

    return call if label.rpartition(".")[2] in CALLERS else by_numpy(original, call)


CALLERS = frozenset((
    "apply_along_axis", "apply_over_axes", "piecewise", "fromfunction", "vectorize", "frompyfunc",
    "mask_indices", "fromiter",
))  # fmt: skip
"""Functions that call one of the program's own: it is called once, and as the program's."""


def by_numpy(original: Function, general: Function) -> Function:
    """A function that NumPy runs in any case: on what is in memory, or light, without Python."""
    return at_once(original, general, limit=1 << 62)

"""What a call of a kernel hands back: numbers, new arrays, parts of arrays, its own arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fusewright.frontends.arrays import sharing
from fusewright.frontends.arrays.core import wrap
from fusewright.frontends.kernels.chosen import Chosen
from fusewright.frontends.kernels.returned import Returned, ReturnedList
from fusewright.frontends.kernels.values import Path

NDArray = np.ndarray[Any, Any]


def is_of_numbers(shape: Any) -> bool:
    """Whether nothing but numbers is returned."""
    if isinstance(shape, Returned):
        return shape.origin is not None
    if isinstance(shape, Chosen | ReturnedList):
        return False
    return shape is None or all(map(is_of_numbers, shape))


def paths_of(shape: Any) -> Iterator[Path]:
    """The arguments that are returned, or a part of which is."""
    if isinstance(shape, ReturnedList):
        return
    if isinstance(shape, Chosen):
        yield from paths_of(shape.options)
    elif isinstance(shape, Returned):
        if shape.path is not None:
            yield shape.path
    elif shape is not None:
        for each in shape:
            yield from paths_of(each)


def returned(
    shape: Any,
    numbers: Mapping[int, NDArray],
    argument: Callable[[Path], Any] | None = None,
    as_lazy: bool = False,
) -> Any:
    """The result of a call whose buffers are these; new arrays `as_lazy` ones where the arguments
    are.
    """
    if shape is None:
        return None
    if isinstance(shape, Chosen):
        option = shape.options[int(numbers[shape.buffer])]
        return returned(option, numbers, argument, as_lazy)
    if isinstance(shape, ReturnedList):
        return _items(shape.items, int(numbers[shape.count.buffer][()]), numbers)
    if not isinstance(shape, Returned):
        return tuple(returned(each, numbers, argument, as_lazy) for each in shape)
    if shape.origin is not None:
        value = numbers[shape.buffer][()]
        return value.item() if shape.origin == "python" else value
    if shape.path is not None:
        assert argument is not None
        array = argument(shape.path)
    else:
        array = numbers[shape.buffer]
        array = wrap(sharing.adopted(array)) if as_lazy else array
    found = array[_window(shape.window, numbers)] if shape.window else array
    for name, step in shape.forms:
        if name == "window":
            found = found[_window(step, numbers)]
        elif name == "transpose":
            found = found.transpose(step)
        elif name == "slices":
            found = found[_slices([int(numbers[each]) for each in step])]
        elif name == "diagonal":
            found = found.diagonal(int(numbers[step[0]]))
        else:
            found = found.reshape(tuple(int(numbers[each]) for each in step))
    return found


def _items(shape: Any, count: int, numbers: Mapping[int, NDArray]) -> list[Any]:
    """The items of a list: Python's numbers, NumPy's scalars, or tuples of them."""
    if not isinstance(shape, Returned):
        return list(zip(*(_items(each, count, numbers) for each in shape), strict=True))
    if not count:
        return []
    array = numbers[shape.buffer][:count]
    found: list[Any] = array.tolist() if shape.origin == "python" else list(array)
    return found


def _slices(numbers: Sequence[int]) -> tuple[slice, ...]:
    """For each dim where a slice begins, how many it keeps, and its step."""
    found = []
    for first, count, step in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        end = first + count * step
        kept = slice(first, None if end < 0 else end, step)
        found.append(kept if count else slice(0, 0))
    return tuple(found)


def _window(
    window: Sequence[tuple[int, int | None, int]], numbers: Mapping[int, NDArray]
) -> tuple[int | slice, ...]:
    found: list[int | slice] = []
    for offset, extent, stride in window:
        first = int(numbers[offset])
        if extent is None:
            found.append(first)
            continue
        count = max(int(numbers[extent]), 0)
        end: int | None = first + count * stride
        if end is not None and end < 0:  # counted from the end, to Python
            end = None
        found.append(slice(first, end, stride) if count else slice(0, 0))
    return tuple(found)

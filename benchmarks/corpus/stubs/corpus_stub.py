"""Stands in for plotting libraries: accepts every call, converts what is drawn, draws nothing.

A package of this folder calls `install(__name__)`; then it and all its submodules have every name
that is asked of them.  `FuncAnimation` calls its function once for each frame, because programs
compute there.
"""

import importlib.abc
import importlib.machinery
import itertools
import sys

import corpus_probe

FRAMES = 100
"""Frames of an animation that has no end of its own."""
_UNPACK = {"UNPACK_SEQUENCE", "UNPACK_EX"}
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul")


class Anything:
    """An object that has every attribute, can be called, indexed, unpacked and computed with."""

    def __init__(self, name="anything", count=None):
        self.__dict__["_name"] = name
        self.__dict__["_count"] = count

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _SPECIAL.get(name) or Anything(name, self._count)

    def __setattr__(self, name, value):
        corpus_probe.draw([value])
        self.__dict__[name] = value

    def __call__(self, *values, **named):
        corpus_probe.draw(values)
        corpus_probe.draw(list(named.values()))
        return Anything(self._name, self._count)

    def __getitem__(self, key):
        return Anything(self._name)

    def __setitem__(self, key, value):
        corpus_probe.draw([value])

    def __len__(self):
        return 1 if self._count is None else self._count

    def __iter__(self):
        wanted = _unpacked(sys._getframe(1))
        count = len(self) if wanted is None else wanted
        return iter([Anything(self._name) for _ in range(count)])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __bool__(self):
        return True

    def __float__(self):
        return 0.0

    def __int__(self):
        return 0

    __index__ = __int__

    def __str__(self):
        return self._name

    __repr__ = __str__

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)

    def __lt__(self, other):
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __mro_entries__(self, bases):
        return (Anything,)


def _arithmetic(*values):
    return Anything()


for _name in [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "matmul",
]:
    setattr(Anything, f"__{_name}__", _arithmetic)
    setattr(Anything, f"__r{_name}__", _arithmetic)
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Anything, f"__{_name}__", _arithmetic)


def _unpacked(frame):
    """The number of names on the left of `a, b = anything`; None where it is not unpacked."""
    import dis

    code = frame.f_code.co_code
    if dis.opname[code[frame.f_lasti]] not in _UNPACK:
        return None
    return code[frame.f_lasti + 1] & 0xFF


def _subplots(nrows=1, ncols=1, **named):
    return Anything("figure"), Anything("axes", nrows * ncols)


def _hist(x, bins=10, range=None, density=False, weights=None, **named):
    import numpy

    values = numpy.asarray(x)
    corpus_probe.draw([values])
    if values.dtype.kind not in "biuf" or values.ndim != 1:
        return Anything("n"), Anything("bins"), Anything("patches")
    counts, edges = numpy.histogram(values, bins, range, density=density)
    return counts, edges, Anything("patches", len(counts))


class Animation(Anything):
    """Calls the function of an animation for each frame, when it is shown, saved or at the end."""

    def __init__(self, figure, function, frames=None, init_func=None, fargs=(), **named):
        super().__init__("animation")
        many = FRAMES if frames is None else frames() if callable(frames) else frames
        frame_list = range(many) if isinstance(many, int) else many
        if init_func is not None:
            init_func()
        for frame in itertools.islice(frame_list, FRAMES):
            drawn = function(frame, *(fargs or ()))
            corpus_probe.draw([drawn])


_SPECIAL = {"subplots": _subplots, "hist": _hist, "FuncAnimation": Animation, "__version__": "3.9"}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every submodule of an installed stand-in."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(self.package + "."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        _furnish(module)


def _furnish(module):
    def every_name(name):
        if name.startswith("__") and name not in _SPECIAL:
            raise AttributeError(name)
        return _SPECIAL.get(name) or Anything(name)

    module.__getattr__ = every_name
    module.__path__ = []


def install(package):
    """Make a package and its submodules have every name."""
    sys.meta_path.insert(0, _Finder(package))
    _furnish(sys.modules[package])

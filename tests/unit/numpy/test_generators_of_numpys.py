"""NumPy's own generators, as packages hand them out, are the drop-in's by class."""

from __future__ import annotations

import numpy

import fusewright.numpy as np


class Derived(np.random.RandomState):  # type: ignore[name-defined,misc]
    """A program's class."""


def test_numpys_generators_are_instances() -> None:
    state, generator = numpy.random.RandomState(3), numpy.random.default_rng(3)
    assert isinstance(state, np.random.RandomState) and isinstance(generator, np.random.Generator)
    assert isinstance(np.random.mtrand._rand, np.random.RandomState)
    assert not isinstance(state, np.random.Generator) and not isinstance(3, np.random.RandomState)
    assert issubclass(numpy.random.Generator, np.random.Generator)
    assert np.random.default_rng(generator) is generator
    assert float(np.random.default_rng(3).random()) == numpy.random.default_rng(3).random()


def test_derived_classes_are_instances_of_themselves() -> None:
    """Only what is made of a class is an instance of it."""
    assert isinstance(Derived(3), Derived) and isinstance(Derived(3), numpy.random.RandomState)
    assert not isinstance(numpy.random.RandomState(3), Derived)
    assert not isinstance(np.random.RandomState(3), Derived)
    assert issubclass(Derived, np.random.RandomState)
    assert float(Derived(3).rand()) == numpy.random.RandomState(3).rand()

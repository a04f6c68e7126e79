"""The words for steps that are left to NumPy on purpose: said alike by all who say them."""

from fusewright.frontends.arrays import opaque
from fusewright.ir.library_steps import FAMILIES, ON_PURPOSE, family_of


def test_the_front_end_says_it_in_the_same_words() -> None:
    assert opaque.LIBRARY == ON_PURPOSE


def test_every_named_step_has_its_family() -> None:
    for family in FAMILIES:
        for name in family.names:
            assert family_of(name.replace("*", "anything")) is not None, name

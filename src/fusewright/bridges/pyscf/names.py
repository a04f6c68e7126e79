"""The names of PySCF that the bridge needs, checked before an object is changed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fusewright.base.errors import UnsupportedError

NEEDED = {
    "pyscf.lib": ("set_class", "drop_class", "view", "num_threads"),
    "pyscf.gto": ("Mole.intor",),
    "pyscf.scf.hf": ("SCF.__init__", "SCF._is_mem_enough", "RHF.get_jk", "dot_eri_dm"),
    "pyscf.scf.uhf": ("UHF.get_jk",),
}
OLDEST = "2.6"


def check_names() -> None:
    """An `UnsupportedError` with the version that was seen, where a name is missing; an
    `ImportError` where PySCF is.
    """
    try:
        version = import_module("pyscf").__version__
    except ImportError as error:
        raise ImportError("PySCF is not installed: pip install 'fusewright[pyscf]'") from error
    for module, names in NEEDED.items():
        found: Any = import_module(module)
        for name in names:
            if not _has(found, name):
                raise UnsupportedError(
                    f"PySCF {version} has no `{module}.{name}`",
                    why=f"the bridge is written for PySCF {OLDEST} and later",
                    help="use another version of PySCF, or leave this object to PySCF",
                )


def _has(found: Any, name: str) -> bool:
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True

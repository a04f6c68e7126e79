"""What `import fusewright as fw` gives, apart from the drop-in: loaded when the first name of it is
used.
"""

from typing import TYPE_CHECKING

from fusewright.api import (
    cache_clear as cache_clear,
)
from fusewright.api import (
    cache_info as cache_info,
)
from fusewright.api import (
    evaluate as evaluate,
)
from fusewright.api import (
    explain as explain,
)
from fusewright.api import (
    info as info,
)
from fusewright.api import (
    jit as jit,
)
from fusewright.api import (
    show as show,
)
from fusewright.api import (
    sync as sync,
)
from fusewright.base.errors import FusewrightError as FusewrightError
from fusewright.base.errors import InternalError as InternalError
from fusewright.base.options import options as options
from fusewright.frontends.arrays import lazy as lazy
from fusewright.frontends.kernels.language import (
    assume_unique as assume_unique,
)
from fusewright.frontends.kernels.language import (
    atomic_add as atomic_add,
)
from fusewright.frontends.kernels.language import (
    atomic_and as atomic_and,
)
from fusewright.frontends.kernels.language import (
    atomic_max as atomic_max,
)
from fusewright.frontends.kernels.language import (
    atomic_min as atomic_min,
)
from fusewright.frontends.kernels.language import (
    atomic_or as atomic_or,
)
from fusewright.frontends.kernels.language import (
    atomic_sub as atomic_sub,
)
from fusewright.frontends.kernels.language import (
    atomic_xor as atomic_xor,
)
from fusewright.frontends.kernels.language import (
    grouped as grouped,
)
from fusewright.frontends.kernels.language import (
    local as local,
)
from fusewright.frontends.kernels.language import (
    max as max,
)
from fusewright.frontends.kernels.language import (
    min as min,
)
from fusewright.frontends.kernels.language import (
    ndrange as ndrange,
)
from fusewright.frontends.kernels.language import (
    nofuse as nofuse,
)
from fusewright.frontends.kernels.language import (
    random as random,
)
from fusewright.frontends.kernels.language import (
    static as static,
)
from fusewright.frontends.kernels.language import (
    vector as vector,
)
from fusewright.frontends.recurrences.families import Accumulate as Accumulate
from fusewright.frontends.recurrences.families import Family as Family
from fusewright.frontends.recurrences.families import LinearMap as LinearMap
from fusewright.kernels.kernel import func as func
from fusewright.kernels.kernel import kernel as kernel
from fusewright.recurrences import recurrence as recurrence

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    Array: TypeAlias = NDArray[Any]
    """To type checkers an array of ours is NumPy's: it has its methods, and a program that has
    arrays has both kinds (small ones are NumPy's own).
    """

    def asarray(  # noqa: D103
        obj: ArrayLike, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> Array: ...
else:
    from fusewright.frontends.arrays import Array as Array
    from fusewright.frontends.arrays import asarray as asarray

"""`@pk.workunit` and its like: what PyKokkos reads off a program's classes and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusewright.bridges.pykokkos.spaces import Layout, MemorySpace, Trait


class ViewTypeInfo:
    """What a decorator says of a view."""

    def __init__(
        self,
        *,
        space: MemorySpace | None = None,
        layout: Layout | None = None,
        trait: Trait | None = None,
    ) -> None:
        self.space, self.layout, self.trait = space, layout, trait


def _decorator(name: str) -> Callable[..., Any]:
    def decorate(target: Any = None, **views: ViewTypeInfo) -> Any:
        def mark(found: Any) -> Any:
            found._pykokkos = name
            found._pykokkos_views = views
            return found

        return mark if target is None else mark(target)

    decorate.__name__ = decorate.__qualname__ = name
    decorate.__doc__ = f"Mark a {name}."
    return decorate


workunit = _decorator("workunit")
workload = _decorator("workload")
functor = _decorator("functor")
function = _decorator("function")
classtype = _decorator("classtype")
main = _decorator("main")
callback = _decorator("callback")


class Decorator:
    """The decorators by name."""

    WorkUnit, Workload, Functor = workunit, workload, functor
    KokkosFunction, KokkosClasstype = function, classtype
    KokkosMain, KokkosCallback = main, callback


def role_of(target: Any) -> str:
    """What something was decorated as; empty where it was not."""
    return str(getattr(target, "_pykokkos", ""))


def views_of(target: Any) -> dict[str, ViewTypeInfo]:
    """What its decorator said of its views."""
    found: dict[str, ViewTypeInfo] = getattr(target, "_pykokkos_views", {})
    return found

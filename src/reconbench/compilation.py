"""Compiled functions: the one module that imports numba.

Every room may import it. Without numba a compiled function says so when it is called, so that
modules with compiled functions can be imported for the rest of what they hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from reconbench.missing_package import MissingPackage, needed_by

Function = TypeVar("Function", bound=Callable[..., Any])


def compile_with(**options: Any) -> Callable[[Function], Function]:
    """A decorator: numba.njit with options, cached on disk, with the function's own type."""

    def compile_(function: Function) -> Function:
        try:
            with needed_by("compiled code", "numba"):
                import numba
        except MissingPackage as missing:
            return _refuse(function, str(missing))
        return cast("Function", numba.njit(cache=True, **options)(function))

    return compile_


def _refuse(function: Function, reason: str) -> Function:
    @wraps(function)
    def refuse(*_: Any, **__: Any) -> Any:
        raise MissingPackage(reason)

    return cast("Function", refuse)


compiled = compile_with()
# Without the interpreter's lock, so that threads may run them side by side.
unlocked = compile_with(nogil=True)
# The same with sums in any order, for functions whose numbers are all finite.
vectorised = compile_with(nogil=True, fastmath=True)

"""Compiled functions: the one module of the attacks that imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """numba.njit, cached on disk, with the function's own type."""
    return cast("Function", numba.njit(cache=True)(function))


def vectorised(function: Function) -> Function:
    """The same with sums in any order, for functions whose numbers are all finite, and without the
    interpreter's lock, so that threads may run them side by side."""
    return cast("Function", numba.njit(cache=True, fastmath=True, nogil=True)(function))

"""Arguments in the forms that people try, and one wording for whatever is wrong with them.

Every error is a ``ValueError`` of one line that names the argument, its value and what is allowed.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, KeysView, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from reconbench.datasets.near_names import suggest_name

P = ParamSpec("P")
R = TypeVar("R")

# What people write for one or several names, and for one or several numbers.
Names = str | Sequence[str] | npt.NDArray[Any]
Numbers = float | str | Sequence[float | str] | npt.NDArray[Any]

# The most characters of a value that an error shows.
LONGEST = 60
# Seeds that a generator is asked for.
MOST_SEED = 1 << 31


class ArgumentError(ValueError):
    """An argument that means nothing here."""


def refuse(name: str, value: object, allowed: str, hint: str = "") -> ArgumentError:
    """The error that a value is not what an argument must be."""
    return ArgumentError(f"{name} must be {allowed}, got {describe(value)}{hint}")


def describe(value: object) -> str:
    """A value in a few characters of one line; an object by its type."""
    if isinstance(value, np.generic):
        value = value.item()
    plain = (str, bytes, int, float, complex, bool, Path, list, tuple, dict, set, range)
    if value is None or isinstance(value, plain):
        text = " ".join(repr(value).split())
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = type(value).__name__
    return f"{'an' if kind[:1] in 'AEIOUaeiou' else 'a'} {kind}"


def read_number(
    name: str,
    value: object,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
) -> float:
    """A number, also as numpy has it or as text; ``inf`` where nothing limits it from above."""
    allowed = describe_range(least, above, most, below)
    try:
        number = math.nan if isinstance(value, bool | np.bool_) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    fits = least <= number <= most and above < number
    if not fits or (number >= below and below < math.inf):
        raise refuse(name, value, allowed)
    return number


def describe_range(least: float, above: float, most: float, below: float) -> str:
    """The numbers that are allowed, in words."""
    low = f"> {above:g}" if math.isfinite(above) else f">= {least:g}"
    high = f"< {below:g}" if math.isfinite(below) else f"<= {most:g}"
    parts = [low] if math.isfinite(max(above, least)) else []
    parts += [high] if math.isfinite(min(most, below)) else []
    text = " and ".join(parts)
    infinite = "" if math.isfinite(min(most, below)) else " (inf allowed)"
    return f"a number {text}{infinite}" if text else f"a number{infinite}"


def read_whole(name: str, value: object, least: int = 0) -> int:
    """A whole number, also as numpy has it, as text, or as a float without a fraction."""
    allowed = f"a whole number >= {least}"
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        try:
            number = read_number(name, value)
            whole = int(number)
        except (ArgumentError, OverflowError):
            raise refuse(name, value, allowed) from None
        fits = whole == number
    else:
        whole, fits = int(value), True
    if not fits or whole < least:
        raise refuse(name, value, allowed)
    return whole


def read_text(name: str, value: object) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise refuse(name, value, "a text")
    return str(value)


def read_flag(name: str, value: object) -> bool:
    """True or False, and nothing that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise refuse(name, value, "True or False")
    return bool(value)


def read_choice(name: str, value: object, allowed: Collection[str]) -> str:
    """One of a few names."""
    if isinstance(value, str) and value in allowed:
        return str(value)
    hint = suggest_name(value, allowed) if isinstance(value, str) else ""
    raise refuse(name, value, f"one of {', '.join(allowed)}", hint)


def read_optional(reader: Callable[..., R], name: str, value: object, **limits: Any) -> R | None:
    """What ``reader`` makes of a value, None for None."""
    return None if value is None else reader(name, value, **limits)


def list_values(name: str, value: object, allowed: str) -> list[Any]:
    """One value or several as a list: a text is split at commas, a list, tuple or array is not."""
    values: list[Any]
    if isinstance(value, str):
        values = [part.strip() for part in value.split(",") if part.strip()]
    elif isinstance(value, Mapping):
        raise refuse(name, value, allowed)
    elif isinstance(value, set | frozenset):
        values = sorted(value, key=str)
    elif isinstance(value, list | tuple | range | KeysView) or getattr(value, "ndim", 0) == 1:
        values = list(value)  # type: ignore[call-overload]  # arrays, and what pandas has
    else:
        values = [value]
    if not values:
        raise refuse(name, value, f"{allowed}, at least one")
    return values


def read_numbers(name: str, value: object, **limits: float) -> list[float]:
    """One number or several: a list, a tuple, an array, or a text with commas."""
    allowed = "a number or several, such as 1, [1, 10] or '1,10'"
    return [read_number(name, item, **limits) for item in list_values(name, value, allowed)]


def read_wholes(name: str, value: object, least: int = 0) -> list[int]:
    """One whole number or several."""
    allowed = "a whole number or several, such as 100, [100, 1000] or '100,1000'"
    return [read_whole(name, item, least) for item in list_values(name, value, allowed)]


def read_names(name: str, value: object, what: str = "column") -> tuple[str, ...]:
    """One name or several: a list, a tuple, an index, or a text with commas."""
    allowed = f"a {what} or several, such as 'A', ['A', 'B'] or 'A,B'"
    names = list_values(name, value, allowed)
    if not all(isinstance(item, str) and item.strip() for item in names):
        raise refuse(name, value, allowed)
    return tuple(str(item) for item in names)


def read_seed(name: str, value: object) -> int:
    """A seed: a whole number, or one that a generator draws; 0 for None."""
    if value is None:
        return 0
    if isinstance(value, np.random.Generator):
        return int(value.integers(MOST_SEED))
    try:
        return read_whole(name, value)
    except ArgumentError:
        raise refuse(name, value, "a whole number >= 0 or a numpy Generator") from None


def read_path(name: str, value: object) -> Path:
    """A path, as text or as a Path."""
    if isinstance(value, str | os.PathLike) and str(value):
        return Path(value)
    raise refuse(name, value, "a path")


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn, and point at the line outside this package that made the call."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith("reconbench."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse wrong names of arguments as wrong values are refused, with the name nearest to it."""
    signature = inspect.signature(function)
    names = [name for name in signature.parameters if name != "self"]
    called = function.__name__.removeprefix("_")
    others = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not others:
            _refuse_unknown(called, kwargs, names)
        _refuse_missing(called, signature, args, kwargs)
        return function(*args, **kwargs)

    return call


def _refuse_unknown(function: str, given: Iterable[str], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            raise ArgumentError(
                f"{function} has no argument {name!r}; its arguments: {', '.join(names)}"
                f"{suggest_name(name, names)}"
            )


def _refuse_missing(
    function: str, signature: inspect.Signature, args: Sequence[object], given: Collection[str]
) -> None:
    parameters = signature.parameters.values()
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return
    positional = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    if len(args) > len(positional):
        first = ", ".join(each.name for each in positional) or "none"
        raise ArgumentError(
            f"{function} takes {len(positional)} arguments by position ({first}), got {len(args)}; "
            "name the others"
        )
    bound = {each.name for each in positional[: len(args)]}
    for each in parameters:
        if each.name in bound and each.name in given:
            raise ArgumentError(f"{function} got the argument {each.name!r} twice; give it once")
        lacking = each.name not in bound and each.name not in given
        if lacking and each.default is each.empty and each.kind is not each.VAR_KEYWORD:
            raise ArgumentError(f"{function} needs the argument {each.name!r}")

"""Packages that only some parts need: what such a part says where one is missing.

Every room may import this module; it imports none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

# What pip installs for a package that code imports by another name, or needs in some versions only.
_PIP_NAMES = {"pgmpy": "'pgmpy>=1.1.2,<1.2'", "sklearn": "scikit-learn"}


class MissingPackage(ValueError):
    """A part needs a package that is not installed; the text says how to install it."""


@contextmanager
def needed_by(part: str, package: str, *, extra: str = "", instead: str = "") -> Iterator[None]:
    """Import what a part needs: where that fails, raise which package to install.

    Args:
        part: what needs it, as the subject of a sentence.
        package: the name that code imports it by.
        extra: the extra of reconbench that brings it, if one does.
        instead: what else can be done.

    Raises:
        MissingPackage: the package, or one that it needs itself, cannot be imported.
    """
    try:
        yield
    except ImportError as error:
        missing = (error.name or package).partition(".")[0]
        if missing == "reconbench":
            raise
        broken = "" if isinstance(error, ModuleNotFoundError) or extra else f" ({error})"
        needed = package if extra else missing
        raise MissingPackage(f"{describe_need(part, needed, extra, instead)}{broken}") from None


def describe_need(part: str, package: str, extra: str = "", instead: str = "") -> str:
    """Say in one line that a part needs a package, and how to install it."""
    install = f"'reconbench[{extra}]'" if extra else _PIP_NAMES.get(package, package)
    name = "scikit-learn" if package == "sklearn" else package.replace("_", "-")
    return f"{part} needs {name}: pip install {install}{f', or {instead}' if instead else ''}"


def find_missing(packages: Iterable[str]) -> str | None:
    """The first of some packages that is not installed. None of them is imported."""
    return next((package for package in packages if not _is_installed(package)), None)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:
        return False

"""Find attacks, mechanisms and priors: by entry point, or in a file of the user's own."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from reconbench.attacks import Attack
from reconbench.benchmarks import memory
from reconbench.benchmarks.plugins.options import Option, shown
from reconbench.datasets import BayNet, Domain, Prior, load_prior, rule_priors
from reconbench.mechanisms import Mechanism

KINDS = ("attacks", "mechanisms", "datasets", "bounds")
# What the game itself says to a mechanism's ``for_budget``: not for options.
CALIBRATION = ("domain", "hidden", "epsilon", "delta", "k")


class PluginError(ValueError):
    """A plugin that cannot be found, imported or built."""


@cache
def registered(kind: str) -> dict[str, EntryPoint]:
    """Entry points of a kind by name, in name order; ours win over a namesake."""
    found = sorted(entry_points(group=f"reconbench.{kind}"), key=lambda point: point.name)
    ours = [point for point in found if point.value.startswith("reconbench.")]
    return {point.name: point for point in [*found, *ours]}


def attack(spec: str, options: Mapping[str, object] | None = None) -> Attack:
    """An attack by name, or by ``path/to/file.py:Class``, built with its options."""
    cls: Any = resolve("attacks", spec)
    if not isinstance(cls, type) or not callable(getattr(cls, "reconstruct", None)):
        raise PluginError(f"attack {spec!r} must be a class with a reconstruct(view, rng) method")
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not name.strip():
        raise PluginError(f"attack {spec!r} needs a class attribute `name`, a short text")
    try:
        built: Attack = cls(**(options or {}))
    except TypeError as error:
        raise PluginError(
            f"attack {spec!r} cannot be built: {error}; its options: {_options(cls)}"
        ) from None
    return built


def absolute(spec: str) -> str:
    """A spec that means the same in any working directory."""
    path, colon, name = spec.rpartition(":")
    if colon and path.endswith(".py"):
        return f"{Path(path).resolve()}:{name}"
    return str(Path(spec).resolve()) if spec.endswith(".bif") else spec


def short(spec: str) -> str:
    """A spec without the folder of its file: what rows and keys say, wherever the file lies."""
    path = own_file(spec)
    return spec if path is None else Path(path).name + spec[len(path) :]


def identity(spec: str) -> str:
    """What random streams know a plugin by: its name, or the content of its file and the class.

    The file's place does not count, so that a copy in another folder gives the same numbers.
    """
    path, colon, name = spec.rpartition(":")
    if not (colon and path.endswith(".py")):
        return spec
    return f"{_content_hash(*_whereabouts(path))}:{name}"


@cache
def _content_hash(path: Path, file: Path) -> str:
    """Of the content that this process has imported: like the classes, it is read once."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        raise PluginError(f"no plugin file {path}") from None


def mechanism(name: str) -> type[Mechanism]:
    """A mechanism class, by name or ``file.py:Class``."""
    found: type[Mechanism] = resolve("mechanisms", name)
    if not callable(getattr(found, "for_budget", None)):
        raise PluginError(f"mechanism {name!r} must be a class with a for_budget classmethod")
    called = getattr(found, "name", None)
    if not isinstance(called, str) or not called.strip():
        raise PluginError(f"mechanism {name!r} needs a class attribute `name`, a short text")
    return found


def check_options(name: str, options: Mapping[str, Option]) -> None:
    """Refuse options that a mechanism does not have, and the lack of one that it needs."""
    parameters, any_other = _mechanism_parameters(name)
    for key in options:
        if key in CALIBRATION:
            raise PluginError(
                f"{key!r} of mechanism {name!r} is set by the game, not by an option; "
                f"{_its_options(name)}"
            )
        if key not in parameters and not any_other:
            raise PluginError(f"mechanism {name!r} has no option {key!r}; {_its_options(name)}")
    for key, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and key not in options:
            raise PluginError(f"mechanism {name!r} needs the option {key!r}; {_its_options(name)}")


def calibrated(
    name: str,
    domain: Domain,
    hidden: Sequence[str],
    epsilon: float,
    delta: float,
    *,
    k: int,
    options: Mapping[str, Option],
) -> Mechanism:
    """A mechanism for a budget, with its options; whatever is wrong with them is told here."""
    check_options(name, options)
    cls: Any = mechanism(name)
    try:
        built: Mechanism = cls.for_budget(domain, hidden, epsilon, delta, k=k, **options)
    except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
        told = isinstance(error, ValueError)
        if memory.exhausted(error) or (told and not options):
            raise
        having = f" with {shown(options)}" if options else ""
        raise PluginError(
            f"mechanism {name!r}{having} cannot be built: {error if told else _brief(error)}; "
            f"{_its_options(name)}"
        ) from error
    return built


def _mechanism_parameters(name: str) -> tuple[dict[str, inspect.Parameter], bool]:
    """The options of a mechanism by name, and whether it takes any other."""
    every = inspect.signature(mechanism(name).for_budget).parameters
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = {
        key: parameter
        for key, parameter in every.items()
        if parameter.kind in kinds and key not in CALIBRATION
    }
    return own, any(each.kind is inspect.Parameter.VAR_KEYWORD for each in every.values())


def _its_options(name: str) -> str:
    parameters, any_other = _mechanism_parameters(name)
    return f"its options: {', '.join([*parameters, *['others'] * any_other]) or 'none'}"


_stand_ins: dict[str, str] = {}


def stand_in(files: Mapping[str, str]) -> None:
    """From now on read these files, by the paths that specs give, from where they are copied.

    Specs keep their paths, by which files are found: on a machine that has only copies, rows come
    out the same.
    """
    _stand_ins.clear()
    _stand_ins.update(files)


def own_file(spec: str) -> str | None:
    """The path of a spec that is in a file of the user's own."""
    path, colon, _ = spec.rpartition(":")
    if colon and path.endswith(".py"):
        return path
    return spec if spec.endswith(".bif") else None


def _whereabouts(path: str) -> tuple[Path, Path]:
    """Where a file is by name, and where to read it."""
    if path in _stand_ins:
        return Path(path), Path(_stand_ins[path])
    found = Path(path).resolve()
    return found, found


def prior(spec: str) -> Prior:
    """A prior by name, the network in a ``.bif`` file, or one of a family as ``family:shape``."""
    if spec.endswith(".bif"):
        return _prior_file(_whereabouts(spec)[1])
    if spec.partition(":")[0] in rule_priors.FAMILIES:
        return rule_priors.load(spec)
    found = resolve("datasets", spec)()
    if not isinstance(found, Prior):
        raise PluginError(f"dataset {spec!r} must be a function that returns a Prior")
    return found


@cache
def _prior_file(path: Path) -> BayNet:
    return load_prior(path)


def load(spec: str) -> Any:
    """What a file of the user's own defines, by ``path/to/file.py:name``: a class or a function."""
    path, _, name = spec.rpartition(":")
    if not path.endswith(".py"):
        raise PluginError(f"{spec!r} must be path/to/file.py:name")
    return _from_file(*_whereabouts(path), name)


def resolve(kind: str, spec: str) -> Any:
    """What a spec of a kind names: an entry point's object, or what a file defines."""
    if spec.rpartition(":")[0].endswith(".py"):
        return load(spec)
    points = registered(kind)
    if spec not in points:
        more = " or path/to/file.py:Class"
        if kind == "datasets":
            families = ", ".join(each.usage for each in rule_priors.FAMILIES.values())
            more = f" {families} or path/to/prior.bif"
        raise PluginError(f"unknown {kind[:-1]} {spec!r}; available: {', '.join(points)},{more}")
    try:
        return points[spec].load()
    except Exception as error:  # an entry point is foreign code: whatever it raises is its fault
        raise PluginError(f"{kind[:-1]} {spec!r} does not import: {_brief(error)}") from error


@cache
def _from_file(path: Path, file: Path, name: str) -> Any:
    if not file.is_file():
        raise PluginError(f"no plugin file {path}")
    tag = hashlib.sha256(str(path).encode()).hexdigest()[:12]
    module_name = f"reconbench_plugin_{tag}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"plugin file {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # foreign code: whatever it raises is its fault
        del sys.modules[module_name]
        raise PluginError(f"plugin file {path} does not import: {_brief(error)}") from error
    if not hasattr(module, name):
        raise PluginError(f"plugin file {path} has no class or function {name!r}")
    return getattr(module, name)


def _options(cls: type) -> str:
    parameters = inspect.signature(cls).parameters
    return ", ".join(parameters) or "none"


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def summary(point: EntryPoint) -> str:
    """The first line of a plugin's documentation, or why it does not import."""
    try:
        text = inspect.getdoc(point.load()) or ""
    except Exception as error:  # foreign code: whatever it raises is its fault
        return f"does not import: {_brief(error)}"
    return text.partition("\n")[0]

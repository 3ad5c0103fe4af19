"""Build attacks, mechanisms, priors and metrics, and hold what they return to their contract.

Whatever is wrong is a ``PluginError`` in one line that names the plugin, the argument or member at
fault, and what it must be.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.attacks import Attack, Metric
from reconbench.benchmarks import memory
from reconbench.benchmarks.game.options import Option, Options
from reconbench.benchmarks.plugins.in_memory import find_held
from reconbench.benchmarks.plugins.registry import load_entry
from reconbench.benchmarks.plugins.specs import (
    PluginError,
    describe_error,
    locate_file,
    split_file,
)
from reconbench.bounds import ApproxDP, Relation
from reconbench.datasets import BayNet, Domain, Prior, Table, prior_families
from reconbench.datasets import load_prior as load_network
from reconbench.datasets.network.bif import ENDINGS
from reconbench.mechanisms import Mechanism, Release

# What the game itself says to a mechanism's ``for_budget``: not for options.
CALIBRATION = ("domain", "hidden", "epsilon", "delta")
# A keyword by which a mechanism asks for the public prior.
PUBLIC_PRIOR = "prior"

_GUARANTEE = ("relation", "unit", "tradeoff", "power", "delta_at", "epsilon_at", "describe")
_PRIOR = (
    "domain", "visit_order", "sha256", "sample", "conditional", "log_evidence", "map",
)  # fmt: skip


def construct_attack(spec: str, options: Mapping[str, object] | None = None) -> Attack:
    """An attack by name, or by ``path/to/file.py:Class``, imported and built in this process."""
    held = find_held("attack", spec)
    if held is not None and not isinstance(held.entry, type):
        return _copy_attack(held.entry)
    cls = load_entry("attack", spec)
    try:
        built: Attack = cls(**(options or {}))
    except TypeError as error:
        names = ", ".join(inspect.signature(cls).parameters) or "none"
        raise PluginError(
            f"attack {spec!r} cannot be built: {error}; its options: {names}"
        ) from None
    except (KeyboardInterrupt, ValueError):
        raise
    except BaseException as error:  # foreign code: whatever it raises is its fault
        if memory.exhausted(error):
            raise
        raise PluginError(f"attack {spec!r} cannot be built: {describe_error(error)}") from error
    return built


def _copy_attack(attack: Attack) -> Attack:
    """A copy of an attack as it was handed over: no row depends on those before it."""
    try:
        return deepcopy(attack)
    except Exception as error:  # a lock, a generator, an open file
        raise PluginError(
            f"attack {attack.name!r} cannot be copied ({describe_error(error)}), and every row "
            "starts from a copy; hand over its class, with options"
        ) from error


def build_metric(spec: str) -> Metric:
    """A metric by name or ``file.py:Class``; a parameter follows a colon, as in ``l1:2``."""
    in_file = split_file(spec)
    if in_file is None:
        name, _, parameter = spec.partition(":")
    else:
        name, parameter = f"{in_file.path}:{in_file.name}", in_file.parameter
    cls = load_entry("metric", name)
    parse = getattr(cls, "parse", None)
    if parse is None and parameter:
        raise PluginError(f"metric {name!r} takes no parameter, got {parameter!r}")
    with _blaming(f"metric {spec!r} cannot be built"):
        built: Metric = parse(parameter) if parse is not None else cls()
    if not isinstance(built.name, str) or not built.name.strip():
        raise PluginError(f"metric {spec!r}: name must be a short text, got {built.name!r}")
    return built


def load_mechanism(spec: str) -> type[Mechanism]:
    """A mechanism class, by name or ``file.py:Class``."""
    cls: type[Mechanism] = load_entry("mechanism", spec)
    return cls


def check_options(spec: str, options: Mapping[str, Option]) -> None:
    """Refuse options that a mechanism does not have, and the lack of one that it needs."""
    parameters, any_other = get_options(spec)
    for key in options:
        if key in (*CALIBRATION, PUBLIC_PRIOR):
            raise PluginError(
                f"{key!r} of mechanism {spec!r} is set by the game, not by an option; "
                f"{_list_options(spec)}"
            )
        if key not in parameters and not any_other:
            raise PluginError(f"mechanism {spec!r} has no option {key!r}; {_list_options(spec)}")
    for key, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and key not in options:
            raise PluginError(f"mechanism {spec!r} needs the option {key!r}; {_list_options(spec)}")


def build_mechanism(
    spec: str,
    domain: Domain,
    hidden: Sequence[str],
    epsilon: float,
    delta: float,
    *,
    options: Mapping[str, Option],
    prior: Prior,
) -> Mechanism:
    """A mechanism for a budget, with its options; built once for equal arguments.

    It gets the public prior if its ``for_budget`` has a keyword ``prior``.
    """
    check_options(spec, options)
    arguments = (tuple(hidden), float(epsilon), float(delta), Options(options))
    asked: Any = prior if PUBLIC_PRIOR in _get_keywords(spec)[0] else None
    return _build_mechanism(load_mechanism(spec), spec, domain, *arguments, asked)


@lru_cache(maxsize=1024)
def _build_mechanism(
    cls: Any,
    spec: str,
    domain: Domain,
    hidden: tuple[str, ...],
    epsilon: float,
    delta: float,
    options: Options,
    prior: Any,
) -> Mechanism:
    public = {} if prior is None else {PUBLIC_PRIOR: prior}
    try:
        built: Mechanism = cls.for_budget(domain, hidden, epsilon, delta, **options, **public)
    except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
        if memory.exhausted(error) or (isinstance(error, ValueError) and not options):
            raise
        having = f" with {options}" if options else ""
        raise PluginError(
            f"mechanism {spec!r}{having} cannot be built: {describe_error(error)}; "
            f"{_list_options(spec)}"
        ) from error
    _check_mechanism(spec, built)
    return built


def _check_mechanism(spec: str, built: Any) -> None:
    for member in ("budget", "guarantee", "release", "facts"):
        with _blaming(f"mechanism {spec!r}: {member} cannot be read"):
            if not hasattr(built, member):
                got = type(built).__name__
                raise PluginError(f"mechanism {spec!r}: for_budget returned {got} without {member}")
    if not isinstance(built.budget, ApproxDP):
        raise PluginError(
            f"mechanism {spec!r}: budget must be an ApproxDP(epsilon, delta, relation), got "
            f"{_preview(built.budget)}"
        )
    lacking = [name for name in _GUARANTEE if not hasattr(built.guarantee, name)]
    if lacking or not isinstance(built.guarantee.relation, Relation):
        raise PluginError(
            f"mechanism {spec!r}: guarantee must be a Guarantee such as GaussianDP(mu, relation), "
            f"got {_preview(built.guarantee)}" + (f" without {lacking[0]}" if lacking else "")
        )
    read_facts(spec, built)


def read_facts(spec: str, mechanism: Mechanism) -> dict[str, float]:
    """What a mechanism says of itself, as plain numbers."""
    with _blaming(f"mechanism {spec!r}: facts() failed"):
        facts = mechanism.facts()
    if not isinstance(facts, Mapping) or not all(map(_is_fact, facts.items())):
        raise PluginError(
            f"mechanism {spec!r}: facts() must return a mapping of names to numbers, got "
            f"{_preview(facts)}"
        )
    return {name: float(value) for name, value in facts.items()}


def _is_fact(fact: tuple[object, object]) -> bool:
    name, value = fact
    return isinstance(name, str) and isinstance(value, int | float | np.integer | np.floating)


def release_table(
    spec: str, mechanism: Mechanism, table: Table, rng: np.random.Generator
) -> Release:
    """What a mechanism releases of a table."""
    with _blaming(f"mechanism {spec!r}: release(table, rng) failed"):
        release = mechanism.release(table, rng)
    domain = getattr(release, "domain", None)
    if not isinstance(domain, Domain) or not set(domain.names) <= set(table.domain.names):
        raise PluginError(
            f"mechanism {spec!r}: release(table, rng) must return an object whose `domain` is that "
            f"of the table, got {_preview(release)}"
        )
    return release


def get_options(spec: str) -> tuple[dict[str, inspect.Parameter], bool]:
    """The options of a mechanism by name, and whether it takes any other."""
    own, any_other = _get_keywords(spec)
    return {name: each for name, each in own.items() if name != PUBLIC_PRIOR}, any_other


def _get_keywords(spec: str) -> tuple[dict[str, inspect.Parameter], bool]:
    """The keywords of a mechanism's ``for_budget``, and whether it takes any other."""
    signature = inspect.signature(load_mechanism(spec).for_budget)
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values())
    first, rest = parameters[: len(CALIBRATION)], parameters[len(CALIBRATION) :]
    positional = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    if len(first) < len(CALIBRATION) or any(each.kind not in positional for each in first):
        raise PluginError(
            f"mechanism {spec!r}: for_budget must take ({', '.join(CALIBRATION)}), and its options "
            f"by keyword, but it is for_budget{signature}"
        )
    named = (kinds.KEYWORD_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    own = {each.name: each for each in rest if each.kind in named}
    return own, any(each.kind is kinds.VAR_KEYWORD for each in rest)


def drop_default_options(spec: str, options: Options) -> Options:
    """Options that say more than a mechanism's defaults, so that equal games are one game."""
    parameters, _ = get_options(spec)
    defaults = Options(
        {
            key: parameters[key].default
            for key in options
            if key in parameters and isinstance(parameters[key].default, Option)
        }
    )
    same = (
        key for key in defaults if Options({key: options[key]}) == Options({key: defaults[key]})
    )
    return options.without(*same)


def _list_options(spec: str) -> str:
    parameters, any_other = get_options(spec)
    return f"its options: {', '.join([*parameters, *['others'] * any_other]) or 'none'}"


def load_prior(spec: str) -> Prior:
    """A prior by name, in a BIF file, of a family (``uniform:10``) or by ``file.py:function``.

    It is loaded once.
    """
    if spec.endswith(ENDINGS) and not spec.startswith("columns:"):
        return _load_network(locate_file(spec)[1])
    if prior_families.is_family(spec):
        return _load_family(spec)
    held = find_held("dataset", spec)
    return call_prior(held.entry, spec) if held else _load_once(load_entry("dataset", spec), spec)


@cache
def _load_family(spec: str) -> BayNet:
    return prior_families.load(spec, load_prior)


@cache
def _load_network(path: Path) -> BayNet:
    return load_network(path)


def call_prior(function: Any, spec: str) -> Prior:
    """The prior that the function of a data set returns."""
    with _blaming(f"dataset {spec!r} failed"):
        prior = function()
        lacking = [name for name in _PRIOR if not hasattr(prior, name)]
    if lacking:
        raise PluginError(
            f"dataset {spec!r} must be a function that returns a Prior, got {_preview(prior)} "
            f"without {lacking[0]}"
        )
    if not isinstance(prior.domain, Domain):
        raise PluginError(
            f"dataset {spec!r}: domain must be a Domain, got {_preview(prior.domain)}"
        )
    found: Prior = prior
    return found


_load_once = cache(call_prior)


def sample_table(spec: str, prior: Prior, n: int, rng: np.random.Generator) -> Table:
    """n records of a prior."""
    with _blaming(f"dataset {spec!r}: sample(n, rng) failed"):
        table = prior.sample(n, rng)
    if not isinstance(table, Table) or table.domain != prior.domain or len(table) != n:
        size = f" of {len(table)} records" if isinstance(table, Table) else ""
        raise PluginError(
            f"dataset {spec!r}: sample(n, rng) must return a Table of n = {n} records over the "
            f"prior's domain, got {_preview(table)}{size}"
        )
    return table


@contextmanager
def _blaming(what: str) -> Iterator[None]:
    """Foreign code: whatever it raises is its fault. Its ValueErrors say what is wrong."""
    try:
        yield
    except Exception as error:
        if memory.exhausted(error) or isinstance(error, ValueError):
            raise
        raise PluginError(f"{what}: {describe_error(error)}") from error


def _preview(value: object) -> str:
    return f"{type(value).__name__} {' '.join(repr(value).split())[:80]}"

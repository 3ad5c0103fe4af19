"""All that bounds the reconstruction advantage of a mechanism on a secret, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.rad.guarantee_bounds import AdvantageBound, Stated, list_bounds
from reconbench.bounds.rad.known_mechanism import REFERENCE, KnownMechanism, NotComputed
from reconbench.bounds.rad.secret import Secret

EXACT = "thm43"
# Attained by some mechanism with the stated pair, if the exact value is guessed.
_EXACT = ("exact", "exact-aux")
# Bounds that are the same but for rounding.
_SAME = 1e-9


def name_least(advantages: Mapping[str, float]) -> str:
    """The name of the least advantage; of those that are the same, the first listed."""
    limit = min(advantages.values()) * (1 + _SAME)
    return next(name for name, advantage in advantages.items() if advantage <= limit)


def rad_report(
    mechanism: Guarantee | KnownMechanism, secret: Secret, delta: float = 1e-5
) -> dict[str, Any]:
    """The reconstruction advantage by every bound that holds, ready for JSON.

    Args:
        mechanism: its guarantee, of either neighbouring relation, or the mechanism itself where it
            is one of `known_mechanism`.
        secret: the prior, what the attacker knows, and the error within which a guess counts.
        delta: where (ε, δ) is read off a guarantee that is not stated as a pair.

    Returns:
        `advantage` at the top is the least of `bounds`, `bound` and `reference` name it.
        `attained` says whether some mechanism with this guarantee has an attack with that
        advantage. `not_applicable` has the reasons of the other bounds. `attack` is the attack of
        the largest advantage where the mechanism is known: its success, and its success on a target
        that did not take part.
    """
    known, guarantee = _split(mechanism)
    stated = Stated.of(guarantee, delta)
    rows: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    attack: dict[str, float] | None = None
    if known is None:
        left_out[EXACT] = "it needs the mechanism itself, and only its guarantee is known"
    else:
        try:
            found = known.exact(secret)
        except NotComputed as error:
            left_out[EXACT] = str(error)
        else:
            rows[EXACT] = {
                "advantage": found.high,
                "at_least": found.low,
                "reference": REFERENCE,
                "assumptions": "exact for this mechanism, prior, knowledge and error",
                "guarantee": known.describe(),
                "relation": stated.curve.relation.value,
            }
            if found.success is not None:
                attack = {
                    "success": found.success,
                    "success_without_target": max(found.success - found.high, 0.0),
                    "advantage": found.high,
                }
    for bound in list_bounds():
        reason = bound.refuses(secret, stated)
        if reason is not None:
            left_out[bound.name] = reason
            continue
        used = bound.used(stated)
        rows[bound.name] = {
            "advantage": bound.advantage(secret, stated),
            "reference": bound.reference,
            "assumptions": bound.assumptions,
            "guarantee": used.describe(),
            "relation": used.relation.value,
        }
    least = name_least({name: row["advantage"] for name, row in rows.items()})
    exact = [name for name in _EXACT if stated.pair_given and secret.reach == 0 and name in rows]
    limit = rows[least]["advantage"] * (1 + _SAME)
    attained = least == EXACT or any(rows[name]["advantage"] <= limit for name in exact)
    return {
        "described": (known or guarantee).describe(),
        "guarantee": guarantee.describe(),
        "relation": guarantee.relation.value,
        "replace_one": stated.curve.describe(),
        "values": secret.size,
        "uniform": secret.uniform,
        "collision": secret.collision,
        "most": secret.spread,
        "knowledge": secret.knowledge.name,
        "known": secret.knowledge.meaning,
        "within": secret.within,
        "baseline": secret.baseline,
        "tv": stated.curve.total_variation(),
        "advantage": rows[least]["advantage"],
        "bound": least,
        "reference": rows[least]["reference"],
        "attained": attained,
        "attack": attack,
        "bounds": rows,
        "not_applicable": left_out,
    }


def rad_curves(
    at: Callable[[float], Guarantee | KnownMechanism],
    values: Sequence[float],
    secret: Secret,
    delta: float = 1e-5,
) -> dict[str, list[float | None]]:
    """Every bound over a parameter of the mechanism, for a figure; None where it does not apply.

    Args:
        at: the mechanism, or its guarantee, at a value of the parameter.
        values: where to compute it.
        secret: as in `rad_report`.
        delta: as in `rad_report`.
    """
    bounds = list_bounds(quick=True)
    curves: dict[str, list[float | None]] = {}
    for place, value in enumerate(values):
        known, guarantee = _split(at(value))
        for name, advantage in _values(known, Stated.of(guarantee, delta), secret, bounds):
            curves.setdefault(name, [None] * len(values))[place] = advantage
    return curves


def _values(
    known: KnownMechanism | None,
    stated: Stated,
    secret: Secret,
    bounds: Sequence[AdvantageBound],
) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    if known is not None:
        with suppress(NotComputed):
            found.append((EXACT, known.exact(secret).high))
    applying = [bound for bound in bounds if bound.refuses(secret, stated) is None]
    return [*found, *((bound.name, bound.advantage(secret, stated)) for bound in applying)]


def _split(
    mechanism: Guarantee | KnownMechanism,
) -> tuple[KnownMechanism | None, Guarantee]:
    if isinstance(mechanism, KnownMechanism):
        return mechanism, mechanism.guarantee
    return None, mechanism

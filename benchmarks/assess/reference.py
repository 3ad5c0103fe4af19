"""The reference attack of an assessment: the best that can play a release."""

from __future__ import annotations

from collections.abc import Sequence

from reconbench.attacks import AttackerView, skip_reason
from reconbench.benchmarks import plugins
from reconbench.benchmarks.assess.question import ALL, PRIOR, AssessError
from reconbench.benchmarks.game.play import AttackSpec

# The first that can play is taken. Those above `stack` know the posterior of what they play; on
# a synthetic table alone nobody does, and `stack` pools all that is known of learning from one.
REFERENCES = ("posterior", "optimal", "agia-prior", "extraction-prior", "stack")


def choose_reference(view: AttackerView, references: tuple[str, ...] = REFERENCES) -> str:
    """The attack that an assessment trusts on a view. Raises why none can play it."""
    reasons = []
    for name in references:
        reason = _why_not(name, view)
        if reason is None:
            return name
        reasons.append(reason)
    raise AssessError(
        f"no attack here can play what {view.mechanism.name} releases: {'; '.join(reasons)}"
    )


def list_attacks(others: Sequence[str], reference: str, view: AttackerView) -> tuple[str, ...]:
    """All attacks of an assessment: the prior's guess, the reference, and those asked for.

    `all` asks for every one that looks at the release and can play it. Raises why one that is named
    cannot.
    """
    asked: list[str] = []
    for name in others:
        if name == ALL:
            asked += [each for each in plugins.get_entries("attack") if _can_attack(each, view)]
        elif reason := _why_not(name, view):
            raise AssessError(f"attack {name!r} cannot play: {reason}")
        else:
            asked.append(name)
    return tuple(dict.fromkeys((PRIOR, reference, *asked)))


def _why_not(name: str, view: AttackerView) -> str | None:
    return skip_reason(AttackSpec(name).build(), view)


def _can_attack(name: str, view: AttackerView) -> bool:
    attack = AttackSpec(name).build()
    return getattr(attack, "looks_at_release", True) and skip_reason(attack, view) is None

"""What attacks on synthetic tables need to see, and why they cannot play without it."""

from __future__ import annotations

from reconbench.attacks.base import AttackError, AttackerView
from reconbench.mechanisms.synthetic.release import SyntheticRelease


def skip_unless_table(name: str, view: AttackerView) -> str | None:
    """Say why an attack on all records at once, from a synthetic table, cannot play a view."""
    if not isinstance(view.release, SyntheticRelease):
        return f"{name} attacks synthetic tables only"
    if view.others is not None:
        return f"{name} plays the realistic adversary only"
    if len(view.release.table) == 0:
        return f"{name} needs a synthetic table with records, and this one has none"
    return None


def require_synthetic(view: AttackerView) -> SyntheticRelease:
    """The release of a view, which must be a synthetic table."""
    if not isinstance(view.release, SyntheticRelease):
        raise AttackError(f"this is no synthetic table but a {type(view.release).__name__}")
    return view.release

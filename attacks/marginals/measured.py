"""The measured sets of a view, whatever kind of release they come in."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from reconbench.attacks.base import AttackError, AttackerView
from reconbench.mechanisms import MarginalsRelease, Release
from reconbench.mechanisms.measurements import Measurements
from reconbench.mechanisms.synthetic.release import SyntheticRelease

# What attacks say of themselves where the sets were chosen by looking at the table: the likelihood
# of the choice would be part of the posterior, so what they compute is no best possible.
CHOICE_NOT_COUNTED = {"choice_of_sets_not_counted": 1.0}


def find_measurements(release: Release, records: int) -> Measurements | None:
    """All measured sets of a release; None where there are none to be seen."""
    if isinstance(release, SyntheticRelease):
        return release.measurements
    if isinstance(release, MarginalsRelease):
        noise_sds = (release.noise_sd,) * len(release.workload)
        return Measurements(release.domain, release.workload, release.answers, noise_sds, records)
    return release if isinstance(release, Measurements) else None


def read_measurements(view: AttackerView) -> Measurements:
    """The measured sets that hold a hidden column; there may be none.

    Whoever knows the other columns of every record can count the rest of the sets himself, and
    their noise is independent: nothing is lost without them.
    """
    measurements = find_measurements(view.release, view.n)
    if measurements is None:
        raise AttackError("no measured sets are to be seen in this release")
    return measurements.touching(view.targets)


def find_width(measured: Measurements, hidden: Sequence[str]) -> int | None:
    """The k for which the sets are all sets of k columns that hold a hidden one, with equal noise.

    The number of columns on which two records agree then says on how many sets they do. None where
    there is no such k.
    """
    if not measured.sets or len(set(measured.noise_sds)) > 1:
        return None
    k, columns = len(measured.sets[0]), len(measured.domain)
    every = comb(columns, k) - comb(columns - len(hidden), k)
    different = set(measured.sets)
    if len(measured.sets) != every or len(different) != every or {k} != set(map(len, different)):
        return None
    return k


def skip_unless_measured(name: str, view: AttackerView) -> str | None:
    """Say why an attack on all records at once, from measured sets, cannot play a view."""
    if view.others is not None:
        return f"{name} plays the realistic adversary only"
    return why_not_measured(name, view)


def why_not_measured(name: str, view: AttackerView) -> str | None:
    """Say why a view shows no measured sets."""
    if isinstance(view.release, MarginalsRelease):
        return None
    if find_measurements(view.release, view.n) is not None:
        return None
    if isinstance(view.release, SyntheticRelease):
        return (
            f"{name} attacks the measured sets of a synthetic table, which are not to be seen "
            "here; play with access = measurements"
        )
    return f"{name} attacks marginals and measured sets only"

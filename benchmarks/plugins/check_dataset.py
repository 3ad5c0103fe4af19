"""The conformance kit of data sets: samples, conditionals and probabilities of one distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.plugins.build import call_prior, load_prior, sample_table
from reconbench.benchmarks.plugins.checks import (
    Check,
    Outcome,
    allowed_deviation,
    run_checks,
)
from reconbench.benchmarks.plugins.registry import get_entries, load_entry
from reconbench.benchmarks.plugins.specs import split_file
from reconbench.datasets import Prior, Table

Floats = npt.NDArray[np.float64]

RECORDS = 2_000
FEW = 50
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Subject:
    """A data set, and its prior."""

    spec: str
    prior: Prior

    @cached_property
    def table(self) -> Table:
        return sample_table(self.spec, self.prior, RECORDS, np.random.default_rng(0))

    @property
    def few(self) -> Table:
        return Table(self.table.domain, self.table.codes[:FEW])

    def without(self, table: Table, column: str) -> Table:
        return table.project([name for name in table.domain.names if name != column])


def check_dataset(spec: str) -> list[Check]:
    """Hold a prior's samples against its probabilities, and these against each other.

    Two checks are statistical; a correct prior fails one with probability at most 2e-6.
    """
    return run_checks(CHECKS, Subject(spec, load_prior(spec)))


def _loads_again(subject: Subject) -> Outcome:
    if split_file(subject.spec) is None and subject.spec not in get_entries("dataset"):
        return None, "read from a file or made by a rule"
    again = call_prior(load_entry("dataset", subject.spec), subject.spec)
    same = again.sha256() == subject.prior.sha256()
    return same, "the same" if same else "sha256 differs when the function is called again"


def _hash_is_valid(subject: Subject) -> Outcome:
    text = subject.prior.sha256()
    valid = isinstance(text, str) and len(text) == 64 and set(text) <= set("0123456789abcdef")
    return valid, text if valid else f"sha256 must be 64 hexadecimal digits, got {text!r}"


def _order_is_complete(subject: Subject) -> Outcome:
    order, names = tuple(subject.prior.visit_order), subject.prior.domain.names
    complete = sorted(order) == sorted(names)
    return complete, f"{len(names)} columns" if complete else f"visit_order lists {order!r}"


def _samples_are_valid(subject: Subject) -> Outcome:
    table = subject.table
    return True, f"{len(table)} records over {len(table.domain)} columns"


def _same_seed(subject: Subject) -> Outcome:
    tables = [
        sample_table(subject.spec, subject.prior, FEW, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    if tables[0] != tables[1]:
        return False, "two samples with the same generator differ"
    return tables[0] != tables[2], "equal; another seed gives another table"


def _conditionals_are_valid(subject: Subject) -> Outcome:
    for column in _columns(subject):
        found = _conditional(subject, subject.few, column)
        expected = (FEW, subject.prior.domain[column].size)
        if found.shape != expected:
            return False, f"conditional of {column!r} has shape {found.shape}, must be {expected}"
        if not ((found >= 0).all() and (np.abs(found.sum(axis=1) - 1) <= TOLERANCE).all()):
            return False, f"conditional of {column!r} is no distribution"
    return True, "each sums to 1"


def _probabilities_agree(subject: Subject) -> Outcome:
    """log P(all columns) − log P(all but one) = log P(that one | the others)."""
    whole = np.asarray(subject.prior.log_evidence(subject.few))
    for column in _columns(subject):
        rest = np.asarray(subject.prior.log_evidence(subject.without(subject.few, column)))
        own = subject.few.column(column)
        chances = _conditional(subject, subject.few, column)[np.arange(FEW), own]
        if whole.shape != (FEW,) or rest.shape != (FEW,):
            return False, f"log_evidence must be one number per record, got shape {rest.shape}"
        if not np.allclose(np.exp(whole - rest), chances, atol=TOLERANCE):
            return False, f"log_evidence and conditional disagree on {column!r}"
    return True, "log_evidence and conditional agree"


def _likeliest_value(subject: Subject) -> Outcome:
    for column in _columns(subject):
        guess, chance = subject.prior.map(subject.without(subject.few, column), [column])
        chances = _conditional(subject, subject.few, column)
        chosen = chances[np.arange(FEW), guess.column(column)]
        if not (np.allclose(chosen, chances.max(axis=1)) and np.allclose(chosen, chance)):
            return False, f"map of {column!r} is not its likeliest value and that one's chance"
    return True, "map is the mode of the conditional"


def _samples_follow_conditionals(subject: Subject) -> Outcome:
    """The chance of the value that was drawn, given the other columns: its mean is Σ p²."""
    columns = _columns(subject)
    for column in columns:
        p = _conditional(subject, subject.table, column)
        drawn = p[np.arange(RECORDS), subject.table.column(column)].sum()
        mean = (p**2).sum(axis=1)
        allowed = allowed_deviation(float(((p**3).sum(axis=1) - mean**2).sum()), len(columns))
        if abs(drawn - mean.sum()) > allowed:
            return False, (
                f"the values of {column!r} have chances given the other columns that add up to "
                f"{drawn:.1f} in {RECORDS} records, expected {mean.sum():.1f} ± {allowed:.1f}"
            )
    return True, f"{len(columns)} columns given all others are as expected"


def _samples_follow_probabilities(subject: Subject) -> Outcome:
    """A column by itself: exp(log_evidence) of each value is its share of the sample."""
    shares = {}
    for column in subject.prior.domain.names:
        domain = subject.prior.domain.project([column])
        every = Table(domain, np.arange(domain.sizes[0])[:, None])
        share = np.exp(np.asarray(subject.prior.log_evidence(every)))
        if abs(share.sum() - 1) > TOLERANCE:
            return False, f"exp(log_evidence) of {column!r} sums to {share.sum():.6g}, not to 1"
        shares[column] = share
    tests = sum(map(len, shares.values()))
    for column, share in shares.items():
        counts = np.bincount(subject.table.column(column), minlength=len(share))
        for value, (count, p) in enumerate(zip(counts, share, strict=True)):
            allowed = allowed_deviation(RECORDS * p * (1 - p), tests)
            if abs(count - RECORDS * p) > allowed:
                return False, (
                    f"value {value} of {column!r} comes {count} times in {RECORDS} records, "
                    f"expected {RECORDS * p:.1f} ± {allowed:.1f}"
                )
    return True, f"{tests} counts in {RECORDS} records are as expected"


def _columns(subject: Subject) -> list[str]:
    """The columns, if each has others beside it."""
    names = subject.prior.domain.names
    return list(names) if len(names) > 1 else []


def _conditional(subject: Subject, table: Table, column: str) -> Floats:
    return np.asarray(subject.prior.conditional(subject.without(table, column), [column]))


CHECKS: Mapping[str, Callable[[Subject], Outcome]] = {
    "valid hash": _hash_is_valid,
    "loads again": _loads_again,
    "visits every column": _order_is_complete,
    "valid samples": _samples_are_valid,
    "same seed, same sample": _same_seed,
    "valid conditionals": _conditionals_are_valid,
    "probabilities agree": _probabilities_agree,
    "likeliest value": _likeliest_value,
    "samples follow the conditionals": _samples_follow_conditionals,
    "samples follow the probabilities": _samples_follow_probabilities,
}

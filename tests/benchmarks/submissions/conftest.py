"""A small suite, an honest attack and its entry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.run.runner import play_units
from reconbench.benchmarks.submissions.documents import hash_json
from reconbench.benchmarks.submissions.entry import About, Entry
from reconbench.benchmarks.submissions.submit import Submission
from reconbench.benchmarks.suites.suite import Suite, read_suite

SUITE = """
name = "small"
description = "One column of ACS"
repetitions = 3
attacks = ["prior"]
[[games]]
dataset = "acs"
targets = ["SEX"]
epsilon = [3]
n = 100
"""
HONEST = '''"""Add up what each noisy marginal says about a record's own cell."""

import numpy as np


class Votes:
    name = "votes"

    def __init__(self, trust: float = 1.0) -> None:
        self.trust = trust

    def reconstruct(self, view, rng):
        release, names = view.release, view.release.domain.names
        hidden = names.index(view.targets[0])
        votes = np.log(view.prior.conditional(view.known, view.targets) + 1e-12)
        for columns, answer in zip(release.workload, release.answers, strict=True):
            if hidden in columns:
                cell = tuple(view.known.column(names[i]) for i in columns if i != hidden)
                counts = np.moveaxis(answer, columns.index(hidden), -1)[cell]
                votes += self.trust * counts / (release.noise_sd + 1.0) ** 2
        return view.reconstruction(votes.argmax(axis=1))
'''
Submit = Callable[..., Entry]


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    path = tmp_path_factory.mktemp("suite") / "small.toml"
    path.write_text(SUITE)
    return read_suite(path)


@pytest.fixture(scope="session")
def submit(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Submit:
    """Play a source on the small suite and make its entry."""

    def make(source: str, name: str, **options: Any) -> Entry:
        path: Path = tmp_path_factory.mktemp("attack") / "my_attack.py"
        path.write_text(source)
        submission = Submission.prepare(f"{path}:{name}", suite, options=options)
        rows = {index: row for index, _, row in play_units(submission.units)}
        return submission.finish([rows[index] for index in sorted(rows)], About(author="A"))

    return make


@pytest.fixture(scope="session")
def entry(submit: Submit) -> Entry:
    return submit(HONEST, "Votes")


def rehash(raw: dict[str, Any]) -> dict[str, Any]:
    """A changed entry whose hash fits, as a forger would send it."""
    content = {name: value for name, value in raw.items() if name != "sha256"}
    return {**content, "sha256": hash_json(content)}

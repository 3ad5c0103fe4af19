"""Lines of the results data for the tests of its page and statistics."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Line = dict[str, object]
Make = Callable[..., Line]


@pytest.fixture
def make() -> Make:
    """A line from the successes alone, with whatever else is given."""

    def made(attack: str, successes: tuple[int, ...], **more: object) -> Line:
        return {
            "dataset": "acs",
            "column": "SEX",
            "values": 2,
            "n": 100,
            "k": 3,
            "epsilon": 1.0,
            "delta": 1e-5,
            "mechanism": "gaussian-marginals",
            "metric": "exact",
            "adversary": "realistic",
            "attack": attack,
            "seed": 0,
            "failures": 0,
            "skipped": 0,
            "prior": 50.0,
            "published_50": 80.0,
            "published_95": 86.0,
            "best_error": None,
            "reps": tuple(range(len(successes))),
            "successes": successes,
            "best": (),
            "unconverged": (),
            "exact": (),
            "expected": (),
            **more,
        }

    return made

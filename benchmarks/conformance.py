"""What every attack must do, checked by playing it: the kit that a plugin's author runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from reconbench.attacks import AttackError, AttackerView, check_reconstruction, skip_reason
from reconbench.benchmarks.game import AttackSpec, Game, Round, play
from reconbench.benchmarks.results import Result
from reconbench.benchmarks.runner import one_thread
from reconbench.datasets import Table

GAMES = 20
# An honest attack fails a statistical check by chance with about this probability.
FALSE_ALARM_Z = 5.0

EASY = Game("acs", ("SEX",), epsilon=inf, n=30)
PRIVATE = Game("acs", ("SEX",), epsilon=0.01, n=100)
NOISY = Game("acs", ("SEX",), epsilon=3.0, n=100)
WIDE = Game("fire", ("ALS Unit", "Priority"), epsilon=3.0, n=40)


@dataclass(frozen=True)
class Check:
    """One requirement: passed or not, and what was seen. ``None`` is for information only."""

    name: str
    passed: bool | None
    detail: str


def check_attack(spec: str, options: Mapping[str, Any] | None = None) -> list[Check]:
    """Play an attack through all checks; a check that raises has failed."""
    attack = AttackSpec(spec, dict(options or {}))
    attack.build()
    checks: tuple[tuple[str, Callable[[AttackSpec], Check]], ...] = (
        ("valid guesses", _valid),
        ("several columns", _several),
        ("same seed, same guesses", _deterministic),
        ("leaves the view alone", _leaves_view),
        ("sees only the view", _sees_only_the_view),
        ("gains nothing without a release", _private),
        ("stays below the ceiling", _below_ceiling),
        ("strength without noise", _strength),
    )
    found = []
    with one_thread():
        for name, run in checks:
            try:
                found.append(replace(run(attack), name=name))
            except AttackError as error:
                found.append(Check(name, False, str(error)))
    return found


def _valid(attack: AttackSpec) -> Check:
    row = play(Round.of(NOISY), attack)
    if row.successes is None:
        return Check("", None, f"skips this game: {row.error}")
    return Check("", True, f"{row.successes} of {row.n} right in {row.seconds:.2f} s")


def _several(attack: AttackSpec) -> Check:
    row = play(Round.of(WIDE), attack)
    if row.successes is None:
        return Check("", None, f"skips games with two columns: {row.error}")
    return Check("", True, f"{row.successes} of {row.n} right on two columns")


def _deterministic(attack: AttackSpec) -> Check:
    view = Round.of(NOISY).view
    guesses = [_guess(attack, view) for _ in range(2)]
    same = guesses[0] == guesses[1]
    return Check("", same, "equal" if same else "two runs with the same generator differ")


def _leaves_view(attack: AttackSpec) -> Check:
    round_ = Round.of(NOISY)
    before = _fingerprint(round_.view)
    _guess(attack, round_.view)
    kept = _fingerprint(round_.view) == before
    return Check("", kept, "unchanged" if kept else "the attack changed the release")


def _sees_only_the_view(attack: AttackSpec) -> Check:
    """The same view on another truth: the guesses must not follow the truth."""
    right, wrong = (play(_with_truth(NOISY, flip), attack).successes for flip in (False, True))
    if right is None or wrong is None:
        return Check("", None, "skips this game")
    same = right + wrong == NOISY.n
    return Check("", same, "yes" if same else "guesses changed when only the truth did")


def _private(attack: AttackSpec) -> Check:
    """At ε = 0.01 the mean success stays below the ceiling on the mean, which is the prior's."""
    rows = _rows(attack, PRIVATE)
    if not rows:
        return Check("", None, "skips this game")
    gaps = np.array([(row.successes or 0) - row.ceilings["prior-exact"]["mean"] for row in rows])
    limit = FALSE_ALARM_Z * gaps.std(ddof=1) / np.sqrt(len(gaps))
    detail = f"{gaps.mean():+.1f} records against the most any attack gets (allowed: {limit:.1f})"
    return Check("", bool(gaps.mean() <= limit), detail)


def _below_ceiling(attack: AttackSpec) -> Check:
    """More than a quarter of 20 runs above a 95 % ceiling has probability below 1e-5."""
    rows = _rows(attack, NOISY)
    if not rows:
        return Check("", None, "skips this game")
    above = sum((row.successes or 0) > row.ceilings["fdp-recursion"]["0.95"] for row in rows)
    return Check("", above <= len(rows) // 4, f"above the 95 % ceiling in {above} of {len(rows)}")


def _strength(attack: AttackSpec) -> Check:
    rows = [play(Round.of(replace(EASY, rep=rep)), attack) for rep in range(3)]
    right = [row.successes for row in rows if row.successes is not None]
    prior = np.mean([row.baseline_successes for row in rows])
    if not right:
        return Check("", None, "skips this game")
    return Check(
        "",
        None,
        f"{np.mean(right):.1f} of {EASY.n} from exact marginals; the prior gets {prior:.1f}",
    )


def _with_truth(game: Game, flip: bool) -> Round:
    """A round of a binary column, its truth flipped behind the attacker's back or not."""
    round_ = Round.of(game)
    return replace(round_, truth=Table(round_.truth.domain, abs(round_.truth.codes - int(flip))))


def _rows(attack: AttackSpec, game: Game) -> list[Result]:
    rows = [play(Round.of(replace(game, rep=rep)), attack) for rep in range(GAMES)]
    return [row for row in rows if row.successes is not None]


def _guess(attack: AttackSpec, view: AttackerView) -> Table | None:
    player = attack.build()
    if skip_reason(player, view) is not None:
        return None
    try:
        found = player.reconstruct(view, np.random.default_rng(0))
    except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
        raise AttackError(f"{type(error).__name__}: {error}") from error
    return check_reconstruction(view, found).guess


def _fingerprint(view: AttackerView) -> list[bytes]:
    answers = getattr(view.release, "answers", ())
    return [view.known.codes.tobytes(), *(answer.tobytes() for answer in answers)]

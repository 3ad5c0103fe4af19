"""What every attack must do, checked by playing it: the kit that a plugin's author runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

import numpy as np

from reconbench.attacks import AttackError, AttackerView, check_reconstruction, skip_reason
from reconbench.benchmarks.game.play import (
    AttackSpec,
    Game,
    Round,
    check,
    play,
    play_together,
    plays_together,
)
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.run.worker_process import Limits, Report, Worker, WorkerGone, ask
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.datasets import Table
from reconbench.mechanisms import MechanismError

GAMES = 20
TOGETHER = 3
MARGINALS = "gaussian-marginals"
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


@dataclass(frozen=True)
class Player:
    """An attack, what it attacks, and whom to tell whenever it is about to be called."""

    attack: AttackSpec
    mechanism: str = MARGINALS
    beat: Callable[[], None] = lambda: None

    def round(self, game: Game, rep: int = 0) -> Round:
        return Round.of(replace(game, mechanism=self.mechanism, rep=rep))

    def unplayable(self, game: Game) -> str | None:
        """Why the mechanism has no such game, if it has none."""
        try:
            check(replace(game, mechanism=self.mechanism))
        except MechanismError as error:
            return str(error)
        return None

    def play(self, round_: Round) -> Result:
        self.beat()
        return play(round_, self.attack)

    def play_together(self, rounds: Sequence[Round]) -> list[Result]:
        self.beat()
        return play_together(rounds, self.attack)

    def guess(self, view: AttackerView) -> Table | None:
        self.beat()
        player = self.attack.build()
        if skip_reason(player, view) is not None:
            return None
        try:
            found = player.reconstruct(view, np.random.default_rng(0))
        except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
            raise AttackError(f"{type(error).__name__}: {error}") from error
        return check_reconstruction(view, found).guess


def check_attack(
    spec: str,
    options: Mapping[str, Any] | None = None,
    *,
    mechanism: str = MARGINALS,
    limits: Limits | None = None,
) -> list[Check]:
    """Play an attack on a mechanism through all checks; a check that raises has failed.

    With limits, on one call of the attack, it plays in a worker process; if it hangs or takes the
    process down, that check has failed and the others are left out.
    """
    attack = AttackSpec(spec, dict(options or {}))
    attack.build()
    check(replace(NOISY, mechanism=mechanism))
    if limits is not None:
        return _in_a_worker(attack, mechanism, limits)
    return [run_check(name, Player(attack, mechanism)) for name in CHECKS]


def run_check(name: str, player: Player) -> Check:
    with one_thread():
        try:
            return replace(CHECKS[name](player), name=name)
        except AttackError as error:
            return Check(name, False, str(error))


def report_checks(report: Report, attack: AttackSpec, mechanism: str) -> None:
    """All checks as a worker's task: the name of each, a beat for every call, what came of it."""
    for name in CHECKS:
        report(name)
        report(run_check(name, Player(attack, mechanism, lambda: report(None))))


def _in_a_worker(attack: AttackSpec, mechanism: str, limits: Limits) -> list[Check]:
    found: list[Check] = []
    current = next(iter(CHECKS))
    worker = Worker(limits)
    try:
        for message in ask(worker, limits, report_checks, attack, mechanism):
            if isinstance(message, str):
                current = message
            elif isinstance(message, Check):
                found.append(message)
        return found
    except TimeoutError:
        broken = f"hangs: no answer in {limits.seconds:g} s (--timeout)"
    except WorkerGone:
        broken = worker.end()
    finally:
        worker.kill()
    found.append(Check(current, False, broken))
    left = [name for name in CHECKS if name not in {check.name for check in found}]
    return found + [Check(name, None, "not played: see above") for name in left]


def _valid(player: Player) -> Check:
    row = player.play(player.round(NOISY))
    if row.successes is None:
        return Check("", None, f"skips this game: {row.error}")
    return Check("", True, f"{row.successes} of {row.n} right in {row.seconds:.2f} s")


def _several(player: Player) -> Check:
    reason = player.unplayable(WIDE)
    if reason is not None:
        return Check("", None, f"there are no games with two columns: {reason}")
    row = player.play(player.round(WIDE))
    if row.successes is None:
        return Check("", None, f"skips games with two columns: {row.error}")
    return Check("", True, f"{row.successes} of {row.n} right on two columns")


def _deterministic(player: Player) -> Check:
    view = player.round(NOISY).view
    guesses = [player.guess(view) for _ in range(2)]
    same = guesses[0] == guesses[1]
    return Check("", same, "equal" if same else "two runs with the same generator differ")


def _together(player: Player) -> Check:
    """``reconstruct_many`` is only a faster way to the rows that single calls give."""
    if not plays_together(player.attack, NOISY):
        return Check("", None, "no reconstruct_many: plays one by one")
    differ = []
    for game in [game for game in (NOISY, WIDE) if player.unplayable(game) is None]:
        rounds = [player.round(game, rep) for rep in range(TOGETHER)]
        many = player.play_together(rounds)
        alone = [player.play(round_) for round_ in rounds]
        differ += [
            f"{', '.join(game.targets)}, repetition {place}: {field}"
            for place, pair in enumerate(zip(many, alone, strict=True))
            for field in _differences(*pair)
        ]
    if differ:
        return Check("", False, f"reconstruct_many and reconstruct differ in {differ[0]}")
    return Check("", True, f"reconstruct_many on {TOGETHER} views gives the same")


def _differences(one: Result, other: Result) -> list[str]:
    """Fields in which two rows differ; what depends on the clock is no difference."""
    both = [{**asdict(row), "seconds": 0.0} for row in (one, other)]
    return [name for name in both[0] if both[0][name] != both[1][name]]


def _leaves_view(player: Player) -> Check:
    round_ = player.round(NOISY)
    before = _fingerprint(round_.view)
    player.guess(round_.view)
    kept = _fingerprint(round_.view) == before
    return Check("", kept, "unchanged" if kept else "the attack changed the release")


def _sees_only_the_view(player: Player) -> Check:
    """The same view on another truth: the guesses must not follow the truth."""
    right, wrong = (player.play(_with_truth(player, flip)).successes for flip in (False, True))
    if right is None or wrong is None:
        return Check("", None, "skips this game")
    same = right + wrong == NOISY.n
    return Check("", same, "yes" if same else "guesses changed when only the truth did")


def _private(player: Player) -> Check:
    """At ε = 0.01 the mean success stays below the ceiling on the mean, which is the prior's."""
    rows = _rows(player, PRIVATE)
    if not rows:
        return Check("", None, "skips this game")
    gaps = np.array([(row.successes or 0) - row.ceilings["prior-exact"]["mean"] for row in rows])
    limit = FALSE_ALARM_Z * gaps.std(ddof=1) / np.sqrt(len(gaps))
    detail = f"{gaps.mean():+.1f} records against the most any attack gets (allowed: {limit:.1f})"
    return Check("", bool(gaps.mean() <= limit), detail)


def _below_ceiling(player: Player) -> Check:
    """More than a quarter of 20 runs above a 95 % ceiling has probability below 1e-5."""
    rows = _rows(player, NOISY)
    if not rows:
        return Check("", None, "skips this game")
    above = sum((row.successes or 0) > row.ceilings["fdp-recursion"]["0.95"] for row in rows)
    return Check("", above <= len(rows) // 4, f"above the 95 % ceiling in {above} of {len(rows)}")


def _strength(player: Player) -> Check:
    rows = [player.play(player.round(EASY, rep)) for rep in range(3)]
    right = [row.successes for row in rows if row.successes is not None]
    prior = np.mean([row.baseline_successes for row in rows])
    if not right:
        return Check("", None, "skips this game")
    return Check(
        "",
        None,
        f"{np.mean(right):.1f} of {EASY.n} without noise; the prior gets {prior:.1f}",
    )


def _with_truth(player: Player, flip: bool) -> Round:
    """A round of a binary column, its truth flipped behind the attacker's back or not."""
    round_ = player.round(NOISY)
    return replace(round_, truth=Table(round_.truth.domain, abs(round_.truth.codes - int(flip))))


def _rows(player: Player, game: Game) -> list[Result]:
    rows = [player.play(player.round(game, rep)) for rep in range(GAMES)]
    return [row for row in rows if row.successes is not None]


def _fingerprint(view: AttackerView) -> list[bytes]:
    """The known columns, and every array of the release."""
    found = [view.known.codes.tobytes()]
    for value in getattr(view.release, "__dict__", {}).values():
        parts = value if isinstance(value, list | tuple) else [value]
        found += [part.tobytes() for part in parts if isinstance(part, np.ndarray)]
    return found


CHECKS: Mapping[str, Callable[[Player], Check]] = {
    "valid guesses": _valid,
    "several columns": _several,
    "same seed, same guesses": _deterministic,
    "alone or together, same guesses": _together,
    "leaves the view alone": _leaves_view,
    "sees only the view": _sees_only_the_view,
    "gains nothing without a release": _private,
    "stays below the ceiling": _below_ceiling,
    "strength without noise": _strength,
}

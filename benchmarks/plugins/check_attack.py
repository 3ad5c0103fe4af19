"""The conformance kit of attacks: what every attack must do, checked by playing it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from reconbench.attacks import Attack, AttackerView, check_reconstruction, skip_reason
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import (
    Adversary,
    AttackSpec,
    Game,
    Round,
    check,
    play,
    play_together,
    plays_together,
)
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.player.foreign_attack import ForeignAttack
from reconbench.benchmarks.player.referee import KEEPER_SECONDS, PlayerFailed, limit_players
from reconbench.benchmarks.player.serve import fingerprint
from reconbench.benchmarks.plugins.checks import Check, Outcome, allowed_deviation
from reconbench.benchmarks.plugins.specs import describe_error
from reconbench.benchmarks.run.worker_process import Limits, Report, Worker, WorkerGone, ask
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.datasets import Table
from reconbench.mechanisms import MechanismError

GAMES = 20
TOGETHER = 3
MARGINALS = "gaussian-marginals"
# Student's t of 20 games exceeds this with probability 4e-5.
FALSE_ALARM_T = 5.0

EASY = Game("acs", ("SEX",), epsilon=inf, n=30)
PRIVATE = Game("acs", ("SEX",), epsilon=0.01, n=100)
NOISY = Game("acs", ("SEX",), epsilon=3.0, n=100)
PUBLIC = Game("acs", ("SEX",), epsilon=3.0, n=500)
WIDE = Game("fire", ("ALS Unit", "Priority"), epsilon=3.0, n=40)


class Unplayable(Check):
    """A check in which the attack hung or killed its process: no other is played after it."""


@dataclass(frozen=True)
class Player:
    """An attack, what it attacks and as whom, and a call for whenever the attack is called."""

    attack: AttackSpec
    mechanism: str = MARGINALS
    adversary: str = Adversary.REALISTIC
    beat: Callable[[], None] = lambda: None

    def at(self, game: Game, rep: int = 0) -> Game:
        return replace(game, mechanism=self.mechanism, adversary=self.adversary, rep=rep)

    def round(self, game: Game, rep: int = 0) -> Round:
        return Round.draw(self.at(game, rep))

    def unplayable(self, game: Game) -> str | None:
        """Why the mechanism has no such game, if it has none."""
        try:
            check(self.at(game))
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
        return self.answer(self.attack.build(), view)

    def answer(self, attack: Attack, view: AttackerView) -> Table | None:
        try:
            if skip_reason(attack, view) is not None:
                return None
            answer = attack.reconstruct(view, np.random.default_rng(0))
        except PlayerFailed as failed:
            raise PlayerFailed(f"attack {attack.name!r} {failed}") from None
        return check_reconstruction(view, answer).guess


def check_attack(
    spec: str,
    options: Mapping[str, Any] | None = None,
    *,
    mechanism: str = MARGINALS,
    adversary: str = Adversary.REALISTIC,
    limits: Limits | None = None,
) -> list[Check]:
    """Play an attack on a mechanism through all checks; a check that raises has failed.

    With limits, on one call of the attack, it plays in a worker process; if it hangs or takes the
    process down, that check has failed and the others are left out. Three checks are statistical;
    an honest attack fails one of them with probability at most 4e-4.
    """
    player = Player(AttackSpec(spec, dict(options or {})), mechanism, adversary)
    if limits is not None:
        limit_players(limits.seconds)
    player.attack.build()
    check(player.at(NOISY))
    if limits is not None:
        return _in_a_worker(player, limits)
    return _complete(list(_play_checks(player)))


def play_check(name: str, player: Player) -> Check:
    """One check by its name."""
    with one_thread():
        try:
            return Check(name, *CHECKS[name](player))
        except PlayerFailed as failed:
            return Unplayable(name, False, str(failed))
        except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
            return Check(name, False, describe_error(error))


def report_checks(report: Report, attack: AttackSpec, mechanism: str, adversary: str) -> None:
    """All checks as a worker's task: the name of each, a beat for every call, what came of it."""
    player = Player(attack, mechanism, adversary, lambda: report(None))
    for each in _play_checks(player, report):
        report(each)


def _play_checks(player: Player, report: Report = lambda name: None) -> Iterator[Check]:
    """All checks, up to one in which the attack hung or killed its process."""
    for name in CHECKS:
        report(name)
        played = play_check(name, player)
        yield played
        if isinstance(played, Unplayable):
            return


def _in_a_worker(player: Player, limits: Limits) -> list[Check]:
    checks: list[Check] = []
    current = next(iter(CHECKS))
    worker = Worker(limits)
    arguments = (player.attack, player.mechanism, player.adversary)
    patience = limits
    if plugins.is_foreign("attack", player.attack.spec) and limits.seconds is not None:
        # The worker itself limits the time of players.
        patience = replace(limits, seconds=2 * limits.seconds + KEEPER_SECONDS)
    try:
        for message in ask(worker, patience, report_checks, *arguments):
            if isinstance(message, str):
                current = message
            elif isinstance(message, Check):
                checks.append(message)
        return _complete(checks)
    except TimeoutError:
        broken = f"hangs: no answer in {limits.seconds:g} s (--timeout)"
    except WorkerGone:
        broken = worker.end()
    finally:
        worker.kill()
    checks.append(Check(current, False, broken))
    return _complete(checks)


def _complete(checks: list[Check]) -> list[Check]:
    left = [name for name in CHECKS if name not in {check.name for check in checks}]
    return checks + [Check(name, None, "not played: see above") for name in left]


def _valid(player: Player) -> Outcome:
    row = player.play(player.round(NOISY))
    if row.successes is None:
        return None, f"skips this game: {row.error}"
    return True, f"{row.successes} of {row.n} right in {row.seconds:.2f} s"


def _several(player: Player) -> Outcome:
    reason = player.unplayable(WIDE)
    if reason is not None:
        return None, f"there are no games with two columns: {reason}"
    row = player.play(player.round(WIDE))
    if row.successes is None:
        return None, f"skips games with two columns: {row.error}"
    return True, f"{row.successes} of {row.n} right on two columns"


def _deterministic(player: Player) -> Outcome:
    view = next(player.round(NOISY).views())
    guesses = [player.guess(view) for _ in range(2)]
    same = guesses[0] == guesses[1]
    return same, "equal" if same else "two runs with the same generator differ"


def _together(player: Player) -> Outcome:
    """``reconstruct_many`` is only a faster way to the rows that single calls give."""
    if not plays_together(player.attack, player.at(NOISY)):
        return None, "no reconstruct_many: plays one by one"
    differ = []
    for game in [game for game in (NOISY, WIDE) if player.unplayable(game) is None]:
        rounds = [player.round(game, rep) for rep in range(TOGETHER)]
        many = player.play_together(rounds)
        alone = [player.play(round_) for round_ in rounds]
        differ += [
            f"{', '.join(game.targets)}, repetition {index}: {field}"
            for index, pair in enumerate(zip(many, alone, strict=True))
            for field in pair[0].differences(pair[1])
        ]
    if differ:
        return False, f"reconstruct_many and reconstruct differ in {differ[0]}"
    return True, f"reconstruct_many on {TOGETHER} views gives the same"


def _leaves_view(player: Player) -> Outcome:
    view = next(player.round(NOISY).views())
    attack = player.attack.build()
    player.beat()
    if isinstance(attack, ForeignAttack):
        attack.watched = True
        player.answer(attack, view)
        kept = not attack.changed_view
    else:
        before = fingerprint(view)
        player.answer(attack, view)
        kept = fingerprint(view) == before
    return kept, "unchanged" if kept else "the attack changed the release"


def _sees_only_the_view(player: Player) -> Outcome:
    """The same view on another truth: the guesses must not follow the truth."""
    if player.adversary == Adversary.INFORMED:
        return None, "the informed adversary's view holds the truth of other records"
    right, wrong = (player.play(_with_truth(player, flip)).successes for flip in (False, True))
    if right is None or wrong is None:
        return None, "skips this game"
    same = right + wrong == NOISY.n
    return same, "yes" if same else "guesses changed when only the truth did"


def _ignores_the_seed(player: Player) -> Outcome:
    """Hidden columns drawn from a secret seed, beside known ones drawn from a public seed.

    Given the known columns, the hidden ones of the public table are independent of all that an
    honest attack sees: each agrees with its guess with the prior's probability. An attack that
    draws the public table again agrees more often. FALSE_ALARM by Bernstein's inequality.
    """
    if player.adversary == Adversary.INFORMED:
        return None, "the informed adversary's view holds the truth of other records"
    agreed = expected = variance = 0.0
    for rep in range(GAMES):
        public = player.round(PUBLIC, rep)
        guess = player.guess(_redraw_targets(player, public))
        if guess is None:
            return None, "skips this game"
        chances = public.expected_from_prior(guess)
        agreed += public.successes(guess)
        expected += float(chances.sum())
        variance += float((chances * (1 - chances)).sum())
    limit = allowed_deviation(variance, tests=1)
    detail = f"agrees with the table of a public seed {agreed - expected:+.0f} times beyond chance"
    return agreed - expected <= limit, f"{detail} (allowed: {limit:.0f})"


def _redraw_targets(player: Player, public: Round) -> AttackerView:
    """The view of a table with the known columns of a round, and targets from a secret seed."""
    rng = np.random.default_rng(secrets.randbits(128))
    known, targets = public.view.known, public.game.targets
    chances = public.prior.conditional(known, targets).reshape(len(known), -1)
    cumulated = np.cumsum(chances, axis=1)
    drawn = (rng.random((len(known), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
    sizes = public.truth.domain.sizes
    hidden = Table(public.truth.domain, np.stack(np.unravel_index(drawn, sizes), axis=1))
    table = known.join(hidden).project(public.table.domain.names)
    return replace(public.view, release=public.mechanism.release(table, rng))


def _private(player: Player) -> Outcome:
    """At ε = 0.01 the mean success stays below the ceiling on the mean, which is the prior's."""
    return _below_mean_ceiling(_rows(player, PRIVATE))


def _below_mean_ceiling(rows: Sequence[Result]) -> Outcome:
    if not rows:
        return None, "skips this game"
    gaps = np.array([(row.successes or 0) - row.ceilings["prior-exact"]["mean"] for row in rows])
    limit = FALSE_ALARM_T * gaps.std(ddof=1) / np.sqrt(len(gaps))
    detail = f"{gaps.mean():+.1f} records against the most any attack gets (allowed: {limit:.1f})"
    return bool(gaps.mean() <= limit), detail


def _below_ceiling(player: Player) -> Outcome:
    """More than a quarter of 20 runs are above a 95 % ceiling with probability at most 3.3e-4.

    For the informed adversary there are ceilings on the mean alone.
    """
    rows = _rows(player, NOISY)
    if player.adversary == Adversary.INFORMED:
        return _below_mean_ceiling(rows)
    if not rows:
        return None, "skips this game"
    above = sum((row.successes or 0) > row.ceilings["fdp-recursion"]["0.95"] for row in rows)
    return above <= len(rows) // 4, f"above the 95 % ceiling in {above} of {len(rows)}"


def _strength(player: Player) -> Outcome:
    rows = [player.play(player.round(EASY, rep)) for rep in range(3)]
    right = [row.successes for row in rows if row.successes is not None]
    prior = np.mean([row.baseline_successes for row in rows])
    if not right:
        return None, "skips this game"
    return None, f"{np.mean(right):.1f} of {EASY.n} without noise; the prior gets {prior:.1f}"


def _with_truth(player: Player, flip: bool) -> Round:
    """A round of a binary column, its truth flipped behind the attacker's back or not."""
    round_ = player.round(NOISY)
    return replace(round_, truth=Table(round_.truth.domain, abs(round_.truth.codes - int(flip))))


def _rows(player: Player, game: Game) -> list[Result]:
    rows = [player.play(player.round(game, rep)) for rep in range(GAMES)]
    return [row for row in rows if row.successes is not None]


CHECKS: Mapping[str, Callable[[Player], Outcome]] = {
    "valid guesses": _valid,
    "several columns": _several,
    "same seed, same guesses": _deterministic,
    "alone or together, same guesses": _together,
    "leaves the view alone": _leaves_view,
    "sees only the view": _sees_only_the_view,
    "does not draw the table again": _ignores_the_seed,
    "gains nothing without a release": _private,
    "stays below the ceiling": _below_ceiling,
    "strength without noise": _strength,
}

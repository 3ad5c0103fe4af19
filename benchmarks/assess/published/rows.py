"""What can be said of a published table without the records behind it.

Nobody's success can be counted. What can be seen is how far the table itself ties the wanted
columns to the known ones: an attack is given a part of the rows, guesses the others from their
known columns, and says how sure it is. This is about made-up rows. It is what anybody learns about
the population, and says nothing of whether the table gives away single records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.attacks import AttackerView, check_reconstruction
from reconbench.benchmarks import plugins
from reconbench.benchmarks.assess.assessment import SURE
from reconbench.benchmarks.assess.published.release import PublishedQuestion
from reconbench.benchmarks.assess.question import AssessError, check_metric
from reconbench.benchmarks.assess.reference import choose_reference, list_attacks
from reconbench.benchmarks.game.play import AttackSpec
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.datasets import Prior, Table
from reconbench.mechanisms.published_table import PublishedTable
from reconbench.mechanisms.synthetic.release import SyntheticRelease

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

PARTS = 5
FEWEST_ROWS = 10 * PARTS


@dataclass(frozen=True)
class RowGuesses:
    """An attack on made-up rows that it has not seen: the share right, and how sure it was.

    ``sure`` rows had a claim of at least 90 %, of which ``sure_right`` is the share right.
    """

    attack: str
    right: float
    confidence: float | None
    sure: int | None
    sure_right: float | None


@dataclass(frozen=True)
class RowsAssessment:
    """All numbers of a report on a table without its truth.

    ``any_prior_gain`` is what no attack can expect to gain on any record, None where no budget is
    stated. ``fitted`` says that the prior was fitted to the rows that the attack was given.
    """

    known: tuple[str, ...]
    rows: int
    reference: str
    fitted: bool
    guesses: tuple[RowGuesses, ...]
    guarantee: str
    relation: str
    unit: str
    epsilon: float | None
    any_prior_gain: float | None

    def get_guesses(self, name: str) -> RowGuesses:
        return next(guesses for guesses in self.guesses if guesses.attack == name)


def assess_rows(
    question: PublishedQuestion,
    table: Table,
    mechanism: PublishedTable,
    prior: Prior | None,
    advance: Callable[[], None] = lambda: None,
) -> RowsAssessment:
    """Let an attack guess each fifth of the rows of a published table from the other four.

    Without a prior, one is fitted to these four fifths.
    """
    check_metric(question.metric, table.domain, question.targets)
    if len(table) < FEWEST_ROWS:
        raise AssessError(
            f"the table has {len(table)} rows, fewer than {FEWEST_ROWS}: too few to set some aside"
        )
    rng = make_stream("parts of a published table", {"seed": question.seed})
    part_of = rng.permutation(np.arange(len(table)) % PARTS)
    views = [_view_part(question, table, mechanism, prior, part_of == i) for i in range(PARTS)]
    reference = choose_reference(views[0][0])
    attacks = list_attacks(question.attacks, reference, views[0][0])
    answers: dict[str, list[tuple[Bools, Floats | None]]] = {name: [] for name in attacks}
    for number, (view, truth) in enumerate(views):
        for name in attacks:
            answers[name].append(_guess(question, view, truth, name, number))
        advance()
    stated = mechanism.stated
    either = [] if stated is None else [stated, mechanism.guarantee]
    return RowsAssessment(
        known=views[0][0].known.domain.names,
        rows=len(table),
        reference=reference,
        fitted=prior is None,
        guesses=tuple(_summarise(name, answers[name]) for name in attacks),
        guarantee="none stated" if stated is None else stated.describe(),
        relation=mechanism.guarantee.relation.value if stated is None else stated.relation.value,
        unit=mechanism.guarantee.unit,
        epsilon=None if stated is None else stated.epsilon,
        any_prior_gain=min((each.total_variation() for each in either), default=None),
    )


def _view_part(
    question: PublishedQuestion,
    table: Table,
    mechanism: PublishedTable,
    prior: Prior | None,
    aside: Bools,
) -> tuple[AttackerView, Table]:
    """The view of an attacker who has the rest of the rows, and what is to be guessed."""
    from reconbench.datasets.network.fit import GreedyMutualInformation, fit

    rest, part = (Table(table.domain, table.codes[rows]) for rows in (~aside, aside))
    known = [name for name in table.domain.names if name not in question.targets]
    view = AttackerView(
        SyntheticRelease(table.domain, rest, len(part)),
        mechanism,
        part.project(known),
        question.targets,
        prior or fit(rest, GreedyMutualInformation()),
        plugins.build_metric(question.metric),
    )
    return view, part.project(question.targets)


def _guess(
    question: PublishedQuestion, view: AttackerView, truth: Table, name: str, number: int
) -> tuple[Bools, Floats | None]:
    """Which rows an attack gets right, and how sure it was of each."""
    attack = AttackSpec(name).build()
    rng = make_stream(f"attack {name} on a part", {"seed": question.seed, "part": number})
    with one_thread():
        found = check_reconstruction(view, attack.reconstruct(view, rng))
    return view.metric.score(truth, found.guess), found.scores


def _summarise(name: str, answers: list[tuple[Bools, Floats | None]]) -> RowGuesses:
    hits = np.concatenate([hits for hits, _ in answers])
    claimed = [scores for _, scores in answers if scores is not None]
    if not claimed:
        return RowGuesses(name, float(hits.mean()), None, None, None)
    scores = np.concatenate(claimed)
    sure = scores >= SURE
    right = float(hits[sure].mean()) if sure.any() else None
    return RowGuesses(name, float(hits.mean()), float(scores.mean()), int(sure.sum()), right)

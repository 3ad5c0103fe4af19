"""Imagined tables depend on the setting and on nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from reconbench.attacks import AttackError, AttackerView
from reconbench.attacks.synthetic.imagined import choose_count, forget_settings, imagine_tables
from reconbench.attacks.synthetic.learners import NaiveBayes
from reconbench.attacks.synthetic.pooled import NaiveBayesPooled, Stack
from reconbench.attacks.synthetic.sources import REFERENCES, LearnerSource
from reconbench.datasets import Table
from reconbench.mechanisms import Mechanism
from reconbench.mechanisms.synthetic.pgm import PrivatePGM
from reconbench.mechanisms.synthetic.release import SyntheticRelease

MakeView = Callable[..., tuple[AttackerView, Table]]


def with_mechanism(first: AttackerView, second: AttackerView) -> AttackerView:
    """The second view, of the first one's mechanism."""
    return replace(second, mechanism=first.mechanism)


def test_they_are_the_same_for_every_release(make_synthetic: MakeView) -> None:
    """Also in another process, where nothing is remembered; other settings have others."""
    first, _ = make_synthetic(seed=1)
    second = with_mechanism(first, make_synthetic(seed=2)[0])
    tables = imagine_tables(first, 5)
    assert imagine_tables(second, 5) is tables
    forget_settings()
    again = imagine_tables(second, 5)
    assert again is not tables
    for name in ("truths", "released"):
        for one, other in zip(getattr(tables, name), getattr(again, name), strict=True):
            assert one == other
    assert tables.truths[0] != tables.truths[1]
    assert imagine_tables(first, 7).truths[:5] == tables.truths
    noisier, _ = make_synthetic(seed=1, epsilon=5.0)
    assert imagine_tables(noisier, 5).truths[0] != tables.truths[0]


def test_the_order_of_play_does_not_matter(make_synthetic: MakeView) -> None:
    """A stack played first, last, or alone answers the same, with the same weights."""
    views = [make_synthetic(seed=1)[0]]
    views += [with_mechanism(views[0], make_synthetic(seed=seed)[0]) for seed in (2, 3)]

    def play(view: AttackerView) -> tuple[bytes, dict[str, float]]:
        found = Stack(tables=4).reconstruct(view, np.random.default_rng(0))
        assert found.scores is not None
        return found.guess.codes.tobytes() + found.scores.tobytes(), dict(found.info)

    forwards = [play(view) for view in views]
    forget_settings()
    NaiveBayesPooled(tables=4).reconstruct(views[2], np.random.default_rng(9))
    backwards = [play(view) for view in reversed(views)][::-1]
    assert forwards == backwards


def test_counts() -> None:
    assert [choose_count(n) for n in (1, 100, 125, 200, 10_000)] == [16, 16, 13, 8, 8]


def test_held_out_records_share_the_setting(make_synthetic: MakeView) -> None:
    """The table has as many records as before, however many are attacked."""
    view, _ = make_synthetic()
    some = replace(view, known=Table(view.known.domain, view.known.codes[:7]))
    assert imagine_tables(some, 4) is imagine_tables(view, 4)
    assert len(NaiveBayesPooled(tables=4).reconstruct(some, np.random.default_rng(0)).guess) == 7


def test_tables_are_left_out_of_their_own_references(make_synthetic: MakeView) -> None:
    """Evidence is log q̃ − the mean over the first references but the table's own, by hand."""
    from reconbench.attacks.synthetic.learners import fit_learner
    from reconbench.attacks.synthetic.sources import log_smoothed

    view, _ = make_synthetic(n=20)
    tables = imagine_tables(view, REFERENCES + 2)
    rehearsal = LearnerSource(NaiveBayes()).rehearse(tables, "c")
    chances = tables.chances("c").reshape(len(tables), 20, -1)
    evidence = rehearsal.evidence.reshape(chances.shape)
    names = view.known.domain.names
    fitted = [fit_learner(NaiveBayes(), released, "c", names) for released in tables.released]
    for number in (0, 3, REFERENCES, REFERENCES + 1):
        known = tables.truths[number].project(names)
        logs = [log_smoothed(each.answer(known), chances[number]) for each in fitted]
        others = [logs[k] for k in range(REFERENCES) if k != number]
        expected = logs[number] - np.mean(others, axis=0)
        assert evidence[number] == pytest.approx(expected, abs=1e-12)
    assert isinstance(view.release, SyntheticRelease)
    read = rehearsal.reader.read(
        view.release.table, view.known, view.prior.conditional(view.known, ["c"])
    )
    assert read.shape == (20, 4)


def test_two_tables_are_the_fewest() -> None:
    with pytest.raises(AttackError, match="stack: tables must be at least 2, got 1"):
        Stack(tables=1)


def test_a_mechanism_must_keep_its_kind(make_synthetic: MakeView) -> None:
    class Fickle(PrivatePGM):
        def release(self, table: Table, rng: np.random.Generator) -> SyntheticRelease:
            return table  # type: ignore[return-value]

    view, _ = make_synthetic()
    pgm = view.mechanism
    assert isinstance(pgm, PrivatePGM)
    fickle: Mechanism = Fickle(
        pgm.domain, pgm.hidden, pgm.epsilon, pgm.delta, pgm.row_count, pgm.sets
    )
    with pytest.raises(AttackError, match="released a synthetic table once and then a Table"):
        imagine_tables(replace(view, mechanism=fickle), 2)

"""Wrong calls: one line that names the argument, its value, and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reconbench

# Type checkers would refuse most of these calls, too.
rb: Any = reconbench
PLAY: dict[str, Any] = {"dataset": "acs", "targets": "SEX", "epsilon": 1, "reps": 1}


class Nameless:
    def reconstruct(self, view: object, rng: object) -> None: ...


class Locked:
    name = "locked"

    def __init__(self) -> None:
        self.rows = (row for row in [0])

    def reconstruct(self, view: object, rng: object) -> None: ...


def play(**changed: Any) -> Callable[..., object]:
    given = {name: value for name, value in {**PLAY, **changed}.items() if value is not ...}
    return lambda: rb.play(**given)


def assess(**changed: Any) -> Callable[..., object]:
    def call(people: pd.DataFrame) -> object:
        given: dict[str, Any] = {"table": people, "targets": "MAR", "epsilon": 1}
        return rb.assess(**{**given, **changed})

    return call


WRONG: list[tuple[Callable[..., object], str]] = [
    (play(atack="rap"), r"no argument 'atack'.*did you mean 'attack'\?"),
    (play(eps=1), r"play has no argument 'eps'; its arguments: dataset, targets, epsilon"),
    (play(targets=...), "play needs the argument 'targets'"),
    (lambda: rb.play("acs", "SEX", 1), "takes 2 arguments by position.*got 3"),
    (lambda: rb.play("acs", dataset="acs", targets="SEX", epsilon=1), "'dataset' twice"),
    (play(dataset="asc"), r"unknown dataset 'asc'.*did you mean 'acs'\?"),
    (play(dataset=3), "dataset must be a data set.*got 3"),
    (play(dataset=[]), r"dataset must be .*got \[\]"),
    (play(dataset="people.csv"), "dataset must be .*'people.csv'; fit a prior"),
    (play(dataset=rb.Game), "dataset must be .*got the class Game"),
    (play(targets="SEXX"), r"unknown column 'SEXX'.*did you mean 'SEX'\?"),
    (play(targets=7), "targets must be a column.*got 7"),
    (play(targets=[]), r"targets must be .*got \[\]"),
    (play(targets=["SEX", 3]), r"targets must be .*got \['SEX', 3\]"),
    (play(known=3), "known must be names of columns.*got 3"),
    (play(known="last:99"), "known: 'last:99'"),
    (play(known="SEX"), "'SEX' is both known and a target"),
    (play(epsilon="one"), r"epsilon must be a number > 0 \(inf allowed\), got 'one'"),
    (play(epsilon=0), "epsilon must be a number > 0.*got 0"),
    (play(epsilon=[1, None]), "epsilon must be .*got None"),
    (play(epsilon={"a": 1}), "epsilon must be a number or several.*got {'a': 1}"),
    (play(epsilon=True), "epsilon must be .*got True"),
    (play(epsilon=float("nan")), "epsilon must be .*got nan"),
    (play(epsilon=[]), r"epsilon must be .*at least one, got \[\]"),
    (play(delta=1), "delta must be a number >= 0 and < 1, got 1"),
    (play(n=0), "n must be a whole number >= 1, got 0"),
    (play(n=10.5), "n must be a whole number >= 1, got 10.5"),
    (play(k=99), "k must be between 1 and the 16 columns, got 99"),
    (play(reps=0), "reps must be a whole number >= 1, got 0"),
    (play(reps=[5]), r"reps must be a whole number >= 1, got \[5\]"),
    (play(seed="x"), "seed must be a whole number >= 0 or a numpy Generator, got 'x'"),
    (play(seed=-1), "seed must be .*got -1"),
    (play(attack="rapp"), r"unknown attack 'rapp'.*did you mean"),
    (play(attack=3), "attack must be a name.*got 3"),
    (play(attack=[]), "attack must be .*at least one"),
    (play(attack=("rap", {"step": 5})), "attack 'rap' cannot be built.*its options: steps"),
    (play(attack=("rap", {"steps": [5]})), "option 'steps' of attack 'rap' must be a plain value"),
    (play(attack={"name": "rap"}), r"attack must be \(name, \{'option': value\}\)"),
    (play(attack=["prior", "prior"]), "two of name 'prior' with the same options"),
    (play(attack=dict), "attack must be .*got the class dict"),
    (play(attack=Nameless), "attack 'Nameless' needs a class attribute `name`"),
    (play(attack=Locked()), "cannot be copied.*hand over its class"),
    (play(attack=Locked, jobs=2), "Locked exists in this process only, so jobs must be 1"),
    (play(mechanism="pgmm"), r"unknown mechanism 'pgmm'.*did you mean 'pgm'\?"),
    (play(mechanism=("pgm", {"rowz": 1})), "has no option 'rowz'"),
    (play(mechanism=7), "mechanism must be a name.*got 7"),
    (play(metric="l2:1"), "unknown metric 'l2'"),
    (play(metric=rb.WithinL1), "metric must be .*got the class WithinL1"),
    (play(metric=rb.WithinL1(1)), "'SEX' is not ordinal"),
    (play(adversary="informd"), r"adversary must be one of.*did you mean 'informed'\?"),
    (play(access="everything"), "access must be one of table, measurements, got 'everything'"),
    (play(advantage=-1), "advantage must be a whole number >= 0, got -1"),
    (play(bound="thm9"), "unknown bound 'thm9'"),
    (play(jobs=0), "jobs must be a whole number >= 1, got 0"),
    (play(timeout=-1), "timeout must be a number > 0"),
    (play(progress="yes"), "progress must be True or False, got 'yes'"),
    (play(out=3), "out must be a path, got 3"),
    (play(epsilon=np.linspace(1, 2, 2000), targets="each", reps=10**6), "more than 1,000,000"),
    (lambda: rb.run("quik"), r"unknown suite 'quik'.*did you mean 'quick'\?"),
    (lambda: rb.run(3), "suite must be the name of a suite.*got 3"),
    (lambda: rb.run("quick", target="SEX"), r"run has no argument 'target'.*'targets'\?"),
    (lambda: rb.run("smoke", retry_failed=1), "retry_failed must be True or False, got 1"),
    (lambda: rb.load_prior(pd.DataFrame({"a": [1]})), r"prior must be .*fit one to a table"),
    (lambda: rb.load_prior("arcs"), r"unknown dataset 'arcs'"),
    (lambda: rb.load_prior(Path("none.bif")), "none.bif"),
    (lambda: rb.fit([1, 2, 3]), r"table must be a DataFrame.*got \[1, 2, 3\]"),
    (lambda: rb.fit("people.csv"), "domain must be given for a table in a file, got None"),
    (lambda people: rb.fit(people, structure="tree"), "structure must be one of greedy"),
    (lambda people: rb.fit(people, domain=3), "domain must be a Domain.*got 3"),
    (lambda people: rb.fit(people, smoothing=0), "smoothing must be a number > 0"),
    (lambda people: rb.fit(people, domain={"AGEP": 2}), "column 'SEX' is not in the domain"),
    (lambda: rb.save_prior("acs", "x.bif"), "prior must be a Bayesian network.*got 'acs'"),
    (assess(targets="MARR"), r"unknown column 'MARR'.*did you mean 'MAR'\?"),
    (assess(known="MAR"), "both known and a target"),
    (assess(epsilon=-1), "epsilon must be a number > 0"),
    (assess(max_risk=2), "max_risk must be a number > 0 and < 1, got 2"),
    (assess(measure="fear"), "measure must be one of advantage, share"),
    (assess(attack="magic"), "unknown attack 'magic'"),
    (assess(mechanism=["pgm", "mst"]), "mechanism must be a single one"),
    (assess(table=3), "table must be a DataFrame"),
    (assess(prior="uniform:3"), "column"),
    (lambda: rb.ceiling(1.5, epsilon=1), "prior must be a number in.*got 1.5"),
    (lambda: rb.ceiling("many", epsilon=1), "cannot read many"),
    (lambda: rb.ceiling(0.5), "give either epsilon"),
    (lambda: rb.ceiling(0.5, epsilon=1, mu=1), "give either epsilon"),
    (lambda: rb.ceiling(0.5, epsilon=1, bound="thm9"), "unknown bound 'thm9'"),
    (lambda: rb.ceiling(0.5, epsilon=1, confidence=2), "confidence must be"),
    (lambda: rb.ceiling([0.5, 0.6], n=3, epsilon=1), "n must be left out.*got 3"),
    (lambda: rb.risk("low", epsilon=1), "baseline must be a number >= 0 and <= 1, got 'low'"),
    (lambda: rb.risk(0.1, mechanism=3), "mechanism must be a text.*got 3"),
    (lambda: rb.risk(0.1, mechanism="gdp:m=1"), r"did you mean 'mu'\?"),
    (lambda: rb.risk(0.1, epsilon=1, relation="swap"), "relation must be one of replace-one"),
    (lambda: rb.calibrate(0.1), "baseline must be given for the measure advantage, got None"),
    (lambda: rb.calibrate(0.1, 0.1, measure="x"), "measure must be one of success"),
    (lambda: rb.audit(), "audit needs the argument 'what'"),
    (lambda: rb.audit("ldpp"), r"what must be one of ldp.*did you mean 'ldp'\?"),
    (lambda: rb.audit("ldp", mechanism="grr", epsilon=1), "domain_size must be at least 2"),
    (lambda: rb.audit("ldp", mechanism="gr", epsilon=1), r"mechanism must be .*'grr'\?"),
    (lambda: rb.audit("one-run", canaries=5, guesses=9, right=1), "guesses must be from 0 to"),
    (lambda: rb.audit("positives", tp=1, fp=1, trial=3), "audit_positives .*mean 'trials'"),
    (lambda: rb.risk(0.1, mu=1).save(), "save needs the argument 'folder'"),
    (lambda: rb.risk(0.1, mu=1).save(to="x"), "save has no argument 'to'; its arguments: folder"),
    (lambda: rb.risk(0.1, epsilon=1).plot().save("x.jpg"), "path must be a path that ends in"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_call_says_what_is_wrong(
    call: Callable[..., object], message: str, people: pd.DataFrame
) -> None:
    takes_people = call.__code__.co_argcount
    with pytest.raises(ValueError, match=message) as caught:
        _ = call(people) if takes_people else call()
    text = str(caught.value)
    assert len(text.splitlines()) == 1 and len(text) < 1_500


def test_there_are_many() -> None:
    assert len(WRONG) >= 30

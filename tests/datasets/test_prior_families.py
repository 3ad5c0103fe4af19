"""Priors given by a rule: the distributions they say, and nothing known of a record."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.benchmarks import plugins
from reconbench.datasets import DomainError, Table
from reconbench.datasets.named import load_named
from reconbench.datasets.prior_families import (
    CONSTANT,
    columns,
    hours,
    load,
    split_columns,
    uniform,
)
from reconbench.datasets.shipped import acs, fire


def law(spec: str, target: str) -> np.ndarray:
    prior = load_named(spec)
    nothing = Table(prior.domain.project([CONSTANT]), np.zeros((1, 1), dtype=np.int64))
    return np.asarray(prior.conditional(nothing, [target])[0])


def test_uniform() -> None:
    assert law("uniform:3052", "value") == pytest.approx(np.full(3052, 1 / 3052), abs=1e-15)
    assert plugins.load_prior("uniform:3052") is plugins.load_prior("uniform:3052")
    assert load_named("uniform:5").sha256() == uniform(5).sha256() != uniform(6).sha256()


def test_hours() -> None:
    peaked, extreme = law("hours:peaked", "hours"), law("hours:extreme", "hours")
    assert peaked.argmax() == 40 and peaked[40] == pytest.approx(0.5)
    assert peaked[30] == pytest.approx(peaked[50]) and peaked.min() > 0
    assert extreme[[0, 100]].tolist() == [0.5, 0.5] and extreme[1:100].sum() == 0
    assert set(hours("extreme").sample(200, np.random.default_rng(0)).column("hours")) == {0, 100}
    assert law("hours:uniform", "hours").size == 101


def test_columns_keep_their_joint_distribution() -> None:
    names = ["Station Area", "Zipcode of Incident"]
    alone = load_named("columns:fire:Station Area,Zipcode of Incident")
    domain = fire().domain.project(names)
    every = Table(domain, np.indices(domain.sizes).reshape(2, -1).T)
    found, true = alone.log_evidence(every), fire().log_evidence(every)
    assert np.exp(found) == pytest.approx(np.exp(true), abs=1e-12)
    nothing = Table(alone.domain.project([CONSTANT]), np.zeros((1, 1), dtype=np.int64))
    assert alone.conditional(nothing, names).sum() == pytest.approx(1)
    with pytest.raises(DomainError, match="joint values; name fewer"):
        columns(acs(), acs().domain.names)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("uniform:many", "needs a whole number of values M, got 'many'"),
        ("uniform:1", "needs 2 to 100000 values, got 1"),
        ("hours:night", "must be uniform, peaked, extreme, got 'night'"),
        ("columns:census:AGE", "unknown dataset 'census'"),
        ("columns:acs", "needs a data set and some of its columns, as in columns:acs:SEX,MAR"),
        ("columns:columns:acs:SEX:SEX", "needs a data set and some of its columns"),
        ("columns:bn:asia", "needs a data set and some of its columns"),
        ("columns:bn:asai:smoke", "did you mean 'bn:asia'"),
        ("columns:fire:Nope", "unknown column 'Nope'"),
        ("zipf:3", "unknown dataset 'zipf:3'; available: .*uniform:M"),
    ],
)
def test_refusals(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plugins.load_prior(spec)
    if not spec.startswith("zipf"):
        return
    with pytest.raises(DomainError, match="unknown family 'zipf'"):
        load(spec, load_named)


@pytest.mark.parametrize(
    ("text", "dataset", "names"),
    [
        ("acs:SEX", "acs", ("SEX",)),
        ("bn:child:Age,CO2", "bn:child", ("Age", "CO2")),
        ("uniform:10:value", "uniform:10", ("value",)),
        ("own.bif.gz:a:b,c", "own.bif.gz", ("a:b", "c")),
        ("dir/own.py:people:age,sex", "dir/own.py:people", ("age", "sex")),
    ],
)
def test_columns_of_any_data_set(text: str, dataset: str, names: tuple[str, ...]) -> None:
    assert split_columns(text) == (dataset, names)


def test_columns_of_a_standard_network() -> None:
    alone = plugins.load_prior("columns:bn:asia:tub,either")
    whole = plugins.load_prior("bn:asia")
    every = Table.of_all_values(whole.domain.project(["tub", "either"]))
    found, true = np.exp(alone.log_evidence(every)), np.exp(whole.log_evidence(every))
    assert found == pytest.approx(true, abs=1e-12) and (true == 0).any()

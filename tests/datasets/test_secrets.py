from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
import torch

from reconbench.bounds import epsilon_protect
from reconbench.datasets import DomainError
from reconbench.datasets.secrets import (
    CONTEXT,
    SECRETS,
    CandidateScores,
    CausalScorer,
    NameModel,
    ZipfSecrets,
    made_up_names,
    names,
    synthetic_names,
    uniform_digits,
    zipf_digit,
)
from reconbench.datasets.secrets.name_model import END
from reconbench.missing_package import MissingPackage

EXPONENTS = (0.0, 0.3, 1.0, 1.0 + 1e-9, 1.1, 1.2, 3.0)


@pytest.mark.parametrize("s", EXPONENTS)
def test_normaliser_by_summation(s: float) -> None:
    for size in (1, 2, 31, 32, 33, 100, 10**6):
        found = ZipfSecrets(s, size)
        slow = math.fsum((np.arange(1.0, size + 1) ** -s).tolist())
        assert found.normaliser == pytest.approx(slow, rel=1e-14)
        assert found.error <= 1e-17 * slow


@pytest.mark.parametrize("s", [1.05, 1.1, 1.2, 2.0])
def test_normaliser_of_a_billion_values(s: float) -> None:
    with mpmath.workdps(40):
        exact = mpmath.zeta(s) - mpmath.zeta(s, 10**9 + 1)
    found = ZipfSecrets(s, 10**9)
    assert found.normaliser == pytest.approx(float(exact), rel=1e-14)
    assert found.largest == pytest.approx(float(1 / exact), rel=1e-14)
    assert found.smallest == pytest.approx(1e9**-s / float(exact), rel=1e-12)
    assert found.smallest < found.median < found.largest


def test_sums_below_one_also_have_a_closed_form_in_the_limit() -> None:
    """s = 1: log n + γ + 1/(2n); s < 1 by mpmath's analytic continuation."""
    assert ZipfSecrets(1.0, 10**15).normaliser == pytest.approx(
        15 * math.log(10) + np.euler_gamma, rel=1e-14
    )
    with mpmath.workdps(40):
        exact = mpmath.zeta(0.5) - mpmath.zeta(0.5, 10**12 + 1)
    assert ZipfSecrets(0.5, 10**12).normaliser == pytest.approx(float(exact), rel=1e-13)


def test_the_papers_priors() -> None:
    assert uniform_digits(9).largest == pytest.approx(1e-9, rel=1e-14)
    assert uniform_digits(9).largest == uniform_digits(9).smallest
    assert ZipfSecrets(1.1, 10).largest == pytest.approx(0.3731, abs=5e-5)
    assert ZipfSecrets(1.1, 10**9).largest == pytest.approx(0.10723, abs=5e-6)
    assert ZipfSecrets(1.2, 10**9).largest == pytest.approx(0.18141, abs=5e-6)
    # "the median numerical password canary has lower advantage bounds than uniform canary"
    assert ZipfSecrets(1.1, 10**9).median < 1e-9


def test_the_suite_of_figure_2_has_these_priors() -> None:
    from reconbench.benchmarks.suites.suite import find_suite

    between = {*(10.0**-digits for digits in range(1, 9)), 0.2, 0.5}
    baselines = {point.baseline for point in find_suite("swanberg-fig2").points()} - between
    ((_, name),) = made_up_names().likeliest()
    fetched = 3_883_395 / 246_080_146  # Michael among the births of 1950 to 2016
    expected = {1e-9, 0.00545, fetched, name}
    for s in (1.1, 1.2):
        secrets = ZipfSecrets(s, 10**9)
        expected |= {secrets.largest, secrets.median, secrets.smallest}
    assert sorted(baselines) == pytest.approx(sorted(expected), rel=1e-12)


def test_the_papers_privacy_levels() -> None:
    """17.8 for 9 uniform digits; the 0.25 for passwords takes s = 1.2, not the stated 1.1."""
    assert epsilon_protect(uniform_digits(9).largest) == pytest.approx(17.779, abs=5e-4)
    assert epsilon_protect(ZipfSecrets(1.1, 10**9).largest) == pytest.approx(0.3992, abs=5e-5)
    assert epsilon_protect(ZipfSecrets(1.2, 10**9).largest) == pytest.approx(0.2547, abs=5e-5)


def test_ranks_follow_the_law() -> None:
    """χ² of the first ranks and the tail; seeded, false-alarm rate 1e-6."""
    from scipy.stats import chi2

    secrets, n = ZipfSecrets(1.1, 10**9), 20_000
    drawn = secrets.sample(n, np.random.default_rng(0))
    ends = np.array([1, 2, 3, 10, 100, 10_000, 10**6, 10**9])
    expected = n * np.diff(secrets.cumulative(ends), prepend=0)
    seen = np.bincount(np.searchsorted(ends, drawn), minlength=len(ends))
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-6, len(ends) - 1)
    assert drawn.min() >= 1 and drawn.max() <= 10**9


def test_cumulative_by_summation() -> None:
    secrets = ZipfSecrets(1.1, 500)
    every = secrets.probability(np.arange(1, 501))
    assert every.sum() == pytest.approx(1, rel=1e-14)
    assert secrets.cumulative(np.arange(1, 501)) == pytest.approx(every.cumsum(), rel=1e-13)


@pytest.mark.parametrize(
    ("s", "size", "message"),
    [(-1.0, 10, "s must be 0"), (math.inf, 10, "s must be"), (1.0, 0, "size must be between")],
)
def test_zipf_refuses(s: float, size: int, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        ZipfSecrets(s, size)


def test_ranks_and_lengths_are_checked() -> None:
    with pytest.raises(DomainError, match="ranks must be between 1 and 10"):
        ZipfSecrets(1.0, 10).probability([0])
    with pytest.raises(DomainError, match="length must be between"):
        uniform_digits(0)
    with pytest.raises(DomainError, match="n must be at least 1"):
        uniform_digits(3).sample(0, np.random.default_rng(0))


LIST = ["Ann", "Anna", "Ana", "Nan", "Ann"]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("weight", [0.3, math.inf])
def test_name_chances_add_up(order: int, weight: float) -> None:
    """All names of up to 5 characters and all unfinished beginnings of 6: together 1."""
    model = NameModel.fit(LIST, order, smoothing=0.2, n_gram_weight=weight)
    assert model.alphabet == ("A", "N", "a", "n", END)
    total, beginnings = 0.0, {"": 1.0}
    for _ in range(6):
        longer = {}
        for text, chance in beginnings.items():
            *letters, end = model.chances(text)
            assert chance * end == pytest.approx(math.exp(model.log_prob(text)), rel=1e-12)
            total += chance * end
            for character, step in zip(model.alphabet, letters, strict=False):
                longer[text + character] = chance * step
        beginnings = longer
    assert total + sum(beginnings.values()) == pytest.approx(1, rel=1e-9)


def test_counts_by_hand() -> None:
    model = NameModel.fit(LIST, order=2, smoothing=0.5, n_gram_weight=math.inf)
    # four of the five names start with A, and none of them ends there
    start, end = (4 + 0.5) / (5 + 2.5), 0.5 / (4 + 2.5)
    assert model.log_prob("A") == pytest.approx(math.log(start) + math.log(end), rel=1e-12)
    weighed = NameModel.fit(LIST, order=2, smoothing=0.5, n_gram_weight=2)
    start, end = (4 + 2 * start) / (5 + 2), (0 + 2 * end) / (4 + 2)
    assert weighed.log_prob("A") == pytest.approx(math.log(start) + math.log(end), rel=1e-12)
    assert model.log_prob("Bob") == -math.inf
    assert model.log_prob("An\nn") == -math.inf


@pytest.mark.parametrize("weight", [1.0, math.inf])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_likeliest_by_enumeration(order: int, weight: float) -> None:
    model = NameModel.fit(LIST, order, smoothing=0.3, n_gram_weight=weight)
    every = [
        "".join(letters)
        for length in range(8)
        for letters in itertools.product("AaNn", repeat=length)
        if set(letters) <= set(model.alphabet)
    ]
    ranked = sorted((model.log_prob(name) for name in every), reverse=True)
    found = model.likeliest(12)
    assert [math.log(chance) for _, chance in found] == pytest.approx(ranked[:12], rel=1e-12)
    assert [model.log_prob(name) for name, _ in found] == pytest.approx(ranked[:12], rel=1e-12)


# Frequent given names of the United States, with counts in thousands.
FREQUENT = {
    "Michael": 3883, "David": 2864, "James": 2848, "John": 2721, "Robert": 2569, "William": 2080,
    "Christopher": 1998, "Joseph": 1675, "Daniel": 1659, "Matthew": 1551, "Jennifer": 1459,
    "Thomas": 1449, "Ryan": 946, "Susan": 895, "Adam": 610, "Jordan": 420, "Dana": 180, "Liam": 150,
    "Dan": 48, "Miriam": 45, "Jamie": 290, "Jamal": 50, "Dean": 130, "Stan": 12, "Jan": 60,
}  # fmt: skip


def is_fragment(name: str) -> bool:
    """The beginning of a name that is far more frequent than the text itself."""
    longer = (count for other, count in FREQUENT.items() if other[: len(name)] == name != other)
    return max(longer, default=0) > 10 * FREQUENT.get(name, 0)


@pytest.mark.parametrize("order", [2, 3])
def test_fragments_are_not_among_the_likeliest_names(order: int) -> None:
    """An n-gram ends "Jam" as it ends Adam and William; the model knows how names go on."""
    n_gram = [
        name for name, _ in NameModel.fit(FREQUENT, order, n_gram_weight=math.inf).likeliest(10)
    ]
    assert any(map(is_fragment, n_gram))
    if order == 3:
        assert {"Jam", "Dan"} <= {*filter(is_fragment, n_gram)}
    model = NameModel.fit(FREQUENT, order)
    likeliest = model.likeliest(10)
    assert [name for name, _ in likeliest] == list(FREQUENT)[:10]
    total = sum(FREQUENT.values())
    for name, chance in likeliest:
        assert chance == pytest.approx(FREQUENT[name] / total, rel=0.05)
    assert all(model.log_prob(text) < math.log(1e-3) for text in ("Jam", "Mich", "Rober"))


def test_names_with_counts_are_a_list_with_repetitions() -> None:
    listed, counted = NameModel.fit(LIST), NameModel.fit({"Ann": 2, "Anna": 1, "Ana": 1, "Nan": 1})
    for name in ("Ann", "Anna", "Na", "Annan"):
        assert listed.log_prob(name) == counted.log_prob(name)


def test_sampled_names_follow_the_model() -> None:
    """The likeliest name's share; seeded, false-alarm rate 1e-6."""
    from scipy.stats import binomtest

    model = NameModel.fit(LIST, 3, smoothing=0.1)
    ((name, chance),) = model.likeliest()
    drawn = model.sample(3_000, np.random.default_rng(1))
    assert binomtest(drawn.count(name), len(drawn), chance).pvalue > 1e-6


def test_name_models_refuse() -> None:
    cases: list[tuple[Any, int, float, float, str]] = [
        ([], 3, 0.1, 1, "at least one name"),
        (["a\nb"], 3, 0.1, 1, "one line"),
        (["a"], 0, 0.1, 1, "order must be at least 1"),
        (["a"], 3, 0.0, 1, "smoothing must be > 0"),
        (["a"], 3, 0.1, 0, "n_gram_weight must be > 0, or inf"),
        ({"a": 0}, 3, 0.1, 1, "each count at least 1"),
    ]
    for listed, order, smoothing, weight, message in cases:
        with pytest.raises(DomainError, match=message):
            NameModel.fit(listed, order, smoothing, weight)


def test_made_up_names_are_the_same_every_time() -> None:
    first = synthetic_names(50, np.random.default_rng(0))
    assert first == synthetic_names(50, np.random.default_rng(0))
    assert all(name.isalpha() and name[0].isupper() for name in first)
    ((_, chance),) = made_up_names().likeliest()
    assert 0.01 < chance < 0.1


@pytest.mark.parametrize("name", list(SECRETS))
def test_shipped_secrets(name: str) -> None:
    prior = SECRETS[name]()
    assert prior.domain.names[0] == CONTEXT and prior.domain.sizes == (1, 10)
    assert prior is SECRETS[name]()
    assert prior.cpts[1].argmax() == 0 and prior.cpts[1].sum() == pytest.approx(1)


def test_secrets_of_ten_values() -> None:
    assert zipf_digit().cpts[1][0] == pytest.approx(0.3731, abs=5e-5)
    assert list(names().domain["name"].labels) == [n for n, _ in made_up_names().likeliest(10)]


class Bigram:
    """A language model over words that looks one word back."""

    words = ("<s>", "dear", "ann", "bob", "bye")

    def __init__(self) -> None:
        self.table = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))

    def __call__(self, ids: torch.Tensor) -> Any:
        return SimpleNamespace(logits=self.table[ids])

    def eval(self) -> None: ...


class Words:
    def __init__(self, start: int | None = 0) -> None:
        self.bos_token_id = start

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": [Bigram.words.index(word) for word in text.split()]}


def test_candidates_scored_by_a_language_model() -> None:
    model = Bigram()
    found = CausalScorer(model, Words()).scores(["ann", "bob", "ann bob"], "dear {} bye")
    logs = torch.log_softmax(model.table.double(), -1)

    def cost(*path: int) -> float:
        return -sum(float(logs[a, b]) for a, b in itertools.pairwise(path))

    slow = [cost(0, 1, 2, 4), cost(0, 1, 3, 4), cost(0, 1, 2, 3, 4)]
    assert found.costs == pytest.approx(slow, rel=1e-12)
    assert list(found.tokens) == [3, 3, 4]
    weights = np.exp(-np.array(slow))
    assert found.by_likelihood() == pytest.approx(weights / weights.sum())
    per_token = np.exp(-np.array(slow) / [3, 3, 4])  # 1/perplexity
    assert found.by_perplexity() == pytest.approx(per_token / per_token.sum())


def test_a_tokenizer_without_a_start() -> None:
    found = CausalScorer(Bigram(), Words(None)).scores(["ann"], "dear {}")
    assert list(found.tokens) == [1]
    with pytest.raises(DomainError, match="has one token: put more context"):
        CausalScorer(Bigram(), Words(None)).scores(["ann"])


def test_perplexity_is_flatter_than_likelihood() -> None:
    scores = CandidateScores(("a", "b"), np.array([10.0, 12.0]), np.array([5, 5]))
    assert scores.by_perplexity().max() < scores.by_likelihood().max()


def test_candidates_are_checked() -> None:
    scorer = CausalScorer(Bigram(), Words())
    with pytest.raises(DomainError, match=r"text must hold \{\} once"):
        scorer.scores(["ann"], "dear")
    with pytest.raises(DomainError, match="each named once"):
        scorer.scores(["ann", "ann"])


def test_models_come_from_local_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DomainError, match="no folder"):
        CausalScorer.from_folder(tmp_path / "none")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingPackage, match="needs transformers: pip install transformers"):
        CausalScorer.from_folder(tmp_path)
    asked: list[tuple[str, bool]] = []

    def loader(made: Any) -> Any:
        def load(folder: str, local_files_only: bool) -> Any:
            asked.append((folder, local_files_only))
            return made

        return SimpleNamespace(from_pretrained=load)

    library: Any = ModuleType("transformers")
    library.AutoModelForCausalLM, library.AutoTokenizer = loader(Bigram()), loader(Words())
    monkeypatch.setitem(sys.modules, "transformers", library)
    assert list(CausalScorer.from_folder(tmp_path).scores(["ann", "bob"]).tokens) == [1, 1]
    assert asked == [(str(tmp_path), True)] * 2

"""Priors over secrets that a language model may give away (Swanberg 2025, section 5.1).

Numeric secrets follow Zipf's law over so many values that none of them is listed; names follow a
character model fitted to a list of names, or a causal language model of the user's own. Games are
played on ten values of each, as the paper does: a one-column secret behind a context that everybody
knows.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from itertools import count, islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Attribute, Domain, DomainError
from reconbench.datasets.network.baynet import BayNet

Floats = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

CONTEXT = "context"
END = "\n"
MOST_PREFIXES = 1 << 20
# Terms summed one by one before Euler-Maclaurin takes over, and B₂ⱼ/(2j)! of its corrections.
_DIRECT = 32
_CORRECTIONS = (1 / 12, -1 / 720, 1 / 30_240, -1 / 1_209_600, 1 / 47_900_160)
_REMAINDER = 691 / 1_307_674_368_000


@dataclass(frozen=True)
class ZipfSecrets:
    """P(rank k) ∝ k^−s for k = 1 … size; s = 0 is the uniform distribution."""

    s: float
    size: int

    def __post_init__(self) -> None:
        if not 0 <= self.s < math.inf:
            raise DomainError(f"s must be 0 (uniform) or more, got {self.s:g}")
        if not 1 <= self.size <= 1 << 62:
            raise DomainError(f"size must be between 1 and 2^62 values, got {self.size}")

    @cached_property
    def normaliser(self) -> float:
        """Σ k^−s over all ranks."""
        return float(self._sums(np.array([self.size]))[0])

    @property
    def largest(self) -> float:
        return 1 / self.normaliser

    @property
    def median(self) -> float:
        """The probability that half of all secrets have at most."""
        return float(self.probability(np.array([(self.size + 1) // 2]))[0])

    @property
    def smallest(self) -> float:
        return float(self.probability(np.array([self.size]))[0])

    def probability(self, ranks: npt.ArrayLike) -> Floats:
        asked = self._checked(ranks)
        return np.asarray(asked**-self.s / self.normaliser)

    def cumulative(self, ranks: npt.ArrayLike) -> Floats:
        """P(rank ≤ k)."""
        return self._sums(self._checked(ranks)) / self.normaliser

    def sample(self, n: int, rng: np.random.Generator) -> Ranks:
        """Ranks by inversion: the first k with P(rank ≤ k) ≥ u, found by bisection."""
        if n < 1:
            raise DomainError(f"n must be at least 1 secret, got {n}")
        wanted = rng.random(n) * self.normaliser
        low, high = np.ones(n, dtype=np.int64), np.full(n, self.size, dtype=np.int64)
        while (low < high).any():
            middle = low + (high - low) // 2
            enough = self._sums(middle) >= wanted
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return low

    @property
    def error(self) -> float:
        """A bound on the error of the normaliser, rounding apart; 0 where all terms are summed.

        All derivatives of x^−s keep their sign, so the Euler-Maclaurin remainder is smaller than
        the first correction left out.
        """
        return 0.0 if self.size <= _DIRECT else _REMAINDER * self._derivative(11, _DIRECT)

    def _sums(self, ranks: npt.NDArray[Any]) -> Floats:
        """H_k = Σ_{j ≤ k} j^−s: term by term up to a = 32, then

        H_k = H_a + ∫_a^k x^−s dx + (k^−s − a^−s)/2 + Σ_j B₂ⱼ/(2j)! (g⁽²ʲ⁻¹⁾(k) − g⁽²ʲ⁻¹⁾(a)).
        """
        a, s = float(_DIRECT), self.s
        first = np.cumsum(np.arange(1.0, _DIRECT + 1) ** -s)
        ends = np.maximum(ranks.astype(np.float64), a)
        # ∫_a^k x^−s dx = a^{1−s} (e^{(1−s) log(k/a)} − 1)/(1 − s), and log(k/a) at s = 1
        logs = np.log(ends / a)
        area = a ** (1 - s) * (np.expm1((1 - s) * logs) / (1 - s) if s != 1 else logs)
        total = first[-1] + area + (ends**-s - a**-s) / 2
        for j, factor in enumerate(_CORRECTIONS):
            # g⁽²ʲ⁻¹⁾ is negative, hence the order of the difference
            order = 2 * j + 1
            total += factor * (self._derivative(order, a) - self._derivative(order, ends))
        near = first[np.minimum(ranks, _DIRECT).astype(np.int64) - 1]
        return np.asarray(np.where(ranks <= _DIRECT, near, total))

    def _derivative(self, order: int, x: Any) -> Any:
        """|dⁿ/dxⁿ x^−s| = s (s + 1) … (s + n − 1) x^{−s−n}."""
        return math.prod(self.s + i for i in range(order)) * x ** (-self.s - order)

    def _checked(self, ranks: npt.ArrayLike) -> Floats:
        asked = np.asarray(ranks, dtype=np.float64)
        if asked.size and not ((asked >= 1) & (asked <= self.size)).all():
            raise DomainError(f"ranks must be between 1 and {self.size}, got {ranks!r}")
        return asked


def uniform_digits(length: int = 9) -> ZipfSecrets:
    """All numbers of ``length`` digits, equally likely."""
    if not 1 <= length <= 18:
        raise DomainError(f"length must be between 1 and 18 digits, got {length}")
    return ZipfSecrets(0.0, 10**length)


@dataclass(frozen=True, eq=False)
class NameModel:
    """A character n-gram model: P(next character | the last ``order`` − 1 of them).

    With ``smoothing`` α and A characters, the end of the name included, P(c | h) =
    (N(h c) + α)/(N(h) + α A). α > 0 gives every finite text over the alphabet a positive chance
    and lets no text go on for ever, so the chances of all of them add up to 1.
    """

    order: int
    smoothing: float
    alphabet: tuple[str, ...]
    counts: Mapping[str, Counter[str]]

    @classmethod
    def fit(cls, names: Sequence[str], order: int = 3, smoothing: float = 0.01) -> Self:
        """Count the n-grams of a list of names; a name that stands twice counts twice."""
        if order < 1:
            raise DomainError(f"order must be at least 1 character, got {order}")
        if not 0 < smoothing < math.inf:
            raise DomainError(f"smoothing must be > 0, got {smoothing:g}")
        if not names or any(not name or END in name for name in names):
            raise DomainError("names must hold at least one name, each of them one line of text")
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for name in names:
            for at, character in enumerate(name + END):
                counts[_history(name[:at], order)][character] += 1
        alphabet = sorted({character for name in names for character in name})
        return cls(order, smoothing, (*alphabet, END), dict(counts))

    def chances(self, prefix: str) -> Floats:
        """P(next character | what is written so far), in the order of the alphabet."""
        seen = self.counts.get(_history(prefix, self.order), Counter())
        total = seen.total() + self.smoothing * len(self.alphabet)
        return np.array([(seen[each] + self.smoothing) / total for each in self.alphabet])

    def log_prob(self, name: str) -> float:
        """The log-probability of a whole name; −inf if it has a character that no name had."""
        places = {character: at for at, character in enumerate(self.alphabet)}
        if END in name or any(character not in places for character in name):
            return -math.inf
        steps = enumerate(name + END)
        return math.fsum(math.log(self.chances(name[:at])[places[c]]) for at, c in steps)

    def likeliest(self, number: int = 1) -> list[tuple[str, float]]:
        """The most probable names with their probabilities, by best-first search.

        A longer text is never more probable than its beginning, so whatever comes out of the queue
        complete is at least as probable as all that is still in it.
        """
        return [(name, math.exp(log)) for name, log in islice(self._by_probability(), number)]

    def _by_probability(self) -> Iterator[tuple[str, float]]:
        tickets = count()
        queue: list[tuple[float, int, str, bool]] = [(0.0, next(tickets), "", False)]
        for _ in range(MOST_PREFIXES):
            cost, _, text, complete = heapq.heappop(queue)
            if complete:
                yield text, -cost
                continue
            for character, step in zip(self.alphabet, -np.log(self.chances(text)), strict=True):
                ended = character == END
                longer = text if ended else text + character
                heapq.heappush(queue, (cost + float(step), next(tickets), longer, ended))
        raise DomainError(
            f"no further name among the {MOST_PREFIXES:,} likeliest beginnings; "
            "ask for fewer names or fit with less smoothing"
        )

    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        names = []
        for _ in range(n):
            text = ""
            while (character := self.alphabet[_pick(self.chances(text), rng)]) != END:
                text += character
            names.append(text)
        return names


def synthetic_names(n: int, rng: np.random.Generator) -> list[str]:
    """Made-up given names, two or three syllables each, common syllables more often than rare."""
    firsts = ("ma", "an", "jo", "el", "ka", "da", "li", "ro", "be", "ste", "vi", "ge", "ha", "no")
    middles = ("", "ri", "le", "na", "to", "mi", "la", "se", "di", "lo")
    lasts = ("a", "na", "n", "ra", "lia", "s", "rt", "ne", "ka", "nd", "th", "ro", "sa", "el")
    parts = [
        [syllables[rank - 1] for rank in ZipfSecrets(1.0, len(syllables)).sample(n, rng)]
        for syllables in (firsts, middles, lasts)
    ]
    return ["".join(syllables).capitalize() for syllables in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """What a language model thinks of each candidate: − log P of its text, in so many tokens."""

    candidates: tuple[str, ...]
    costs: Floats
    tokens: Ranks

    def by_perplexity(self) -> Floats:
        """Probabilities ∝ 1/perplexity = exp(−cost/tokens), normalised over the candidates."""
        return _softmax(-self.costs / self.tokens)

    def by_likelihood(self) -> Floats:
        """Probabilities ∝ P(text): the posterior of the candidate given the text around it."""
        return _softmax(-self.costs)


@dataclass(frozen=True, eq=False)
class CausalScorer:
    """A causal language model, as `transformers` has them, and its tokenizer."""

    model: Any
    tokenizer: Any

    @classmethod
    def from_folder(cls, folder: str | Path) -> Self:
        """A model saved in a local folder; nothing is downloaded."""
        if not Path(folder).is_dir():
            raise DomainError(
                f"no folder {str(folder)!r}; give one that a model was saved to by save_pretrained"
            )
        try:
            library: Any = import_module("transformers")
        except ImportError as error:
            raise DomainError(
                f"scoring by a language model needs transformers ({error}); "
                "install it with: pip install transformers"
            ) from error
        model = library.AutoModelForCausalLM.from_pretrained(str(folder), local_files_only=True)
        tokenizer = library.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model.eval()
        return cls(model, tokenizer)

    def scores(self, candidates: Sequence[str], text: str = "{}") -> CandidateScores:
        """Each candidate in the place of ``{}`` in the text around it, the whole text scored."""
        if text.count("{}") != 1:
            raise DomainError(f"text must hold {{}} once, where the candidate goes, got {text!r}")
        if not candidates or len(set(candidates)) != len(candidates):
            raise DomainError("candidates must be at least one, each named once")
        found = [self._cost(text.replace("{}", candidate)) for candidate in candidates]
        costs, tokens = zip(*found, strict=True)
        return CandidateScores(tuple(candidates), np.array(costs), np.array(tokens))

    def _cost(self, text: str) -> tuple[float, int]:
        """− Σ log P(token | those before it), and how many tokens have something before them."""
        import torch

        start = getattr(self.tokenizer, "bos_token_id", None)
        tokens = [] if start is None else [start]
        tokens += list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        if len(tokens) < 2:
            raise DomainError(f"the text {text!r} has one token: put more context around {{}}")
        ids = torch.tensor([tokens])
        with torch.no_grad():
            logs = torch.log_softmax(self.model(ids).logits[0, :-1].double(), dim=-1)
        chosen = logs.gather(1, ids[0, 1:, None])
        return -float(chosen.sum()), len(tokens) - 1


def secret(column: str, labels: Sequence[str], chances: npt.ArrayLike, context: str) -> BayNet:
    """One hidden column behind a known one, which says the same of every record."""
    domain = Domain((Attribute(CONTEXT, (context,)), Attribute(column, tuple(labels))))
    own = np.asarray(chances, dtype=np.float64)
    return BayNet(domain, ((), ()), (np.ones(1), own), (CONTEXT, column))


def _digits(s: float) -> BayNet:
    chances = ZipfSecrets(s, 10).probability(np.arange(1, 11))
    return secret("digit", [str(digit) for digit in range(10)], chances, "12345678")


@cache
def uniform_digit() -> BayNet:
    """The last digit of a number whose first eight are known: all ten equally likely."""
    return _digits(0.0)


@cache
def zipf_digit() -> BayNet:
    """The last digit of a password: Zipf's law with s = 1.1, scaled down to ten values."""
    return _digits(1.1)


@cache
def names() -> BayNet:
    """The ten likeliest of the made-up names, with their chances among themselves."""
    likeliest = made_up_names().likeliest(10)
    chances = np.array([chance for _, chance in likeliest])
    return secret("name", [name for name, _ in likeliest], chances / chances.sum(), "Dear ")


@cache
def made_up_names() -> NameModel:
    """The character model of 5,000 made-up names."""
    return NameModel.fit(synthetic_names(5_000, np.random.default_rng(0)))


SECRETS: Mapping[str, Callable[[], BayNet]] = {
    "secret-digits-uniform": uniform_digit,
    "secret-digits-zipf": zipf_digit,
    "secret-names": names,
}


def _history(prefix: str, order: int) -> str:
    """The last characters that the next one depends on; END fills up what is not there yet."""
    return (END * order + prefix)[-(order - 1) :] if order > 1 else ""


def _pick(chances: Floats, rng: np.random.Generator) -> int:
    below = chances.cumsum()
    return int(np.searchsorted(below[:-1], rng.random() * below[-1], side="right"))


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())

"""A character n-gram model of names, and made-up names to fit it to."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Self

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import DomainError
from reconbench.datasets.secrets.zipf import ZipfSecrets

Floats = npt.NDArray[np.float64]

END = "\n"
MOST_PREFIXES = 1 << 20


@dataclass(frozen=True, eq=False)
class NameModel:
    """A character model of names: by how they begin, and where too few begin so, by n-grams.

    The n-gram looks at the last ``order`` − 1 characters h. With ``smoothing`` α and A characters,
    the end of the name included, q(c | h) = (N(h c) + α)/(N(h) + α A). α > 0 gives every finite
    text over the alphabet a positive chance and lets no text go on for ever, so the chances of all
    of them add up to 1.

    What follows depends on all that is written, not on its last characters: "am" ends Adam and
    William, but hardly any name that begins with Jam ends there. So P(c | t) =
    (N(t c…) + κ q(c | h))/(N(t…) + κ), where N(t…) counts the names that begin with t, and the
    n-gram counts as much as κ = ``n_gram_weight`` names. For κ = ∞ the model is the n-gram alone.
    It ranks fragments such as Jam and Dan among the likeliest names.
    """

    order: int
    smoothing: float
    alphabet: tuple[str, ...]
    counts: Mapping[str, Counter[str]]
    n_gram_weight: float = math.inf
    begun: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def fit(
        cls,
        names: Sequence[str] | Mapping[str, int],
        order: int = 3,
        smoothing: float = 0.01,
        n_gram_weight: float = 1.0,
    ) -> Self:
        """Count the n-grams of a list of names; a name that stands twice counts twice.

        Names with counts, as a mapping, count as often as it says.
        """
        if order < 1:
            raise DomainError(f"order must be at least 1 character, got {order}")
        if not 0 < smoothing < math.inf:
            raise DomainError(f"smoothing must be > 0, got {smoothing:g}")
        if not n_gram_weight > 0:
            raise DomainError(
                f"n_gram_weight must be > 0, or inf for n-grams alone, got {n_gram_weight:g}"
            )
        listed = Counter(names)
        if not listed or any(not name or END in name for name in listed):
            raise DomainError("names must hold at least one name, each of them one line of text")
        if min(listed.values()) < 1:
            raise DomainError("names with counts must each count at least 1")
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        begun: Counter[str] = Counter()
        for name, number in listed.items():
            begun[""] += number
            for at, character in enumerate(name + END):
                counts[_history(name[:at], order)][character] += number
                begun[name[:at] + character] += number
        alphabet = sorted({character for name in listed for character in name})
        return cls(order, smoothing, (*alphabet, END), dict(counts), n_gram_weight, begun)

    def chances(self, prefix: str) -> Floats:
        """P(next character | what is written so far), in the order of the alphabet."""
        seen = self.counts.get(_history(prefix, self.order), Counter())
        total = seen.total() + self.smoothing * len(self.alphabet)
        n_gram = np.array(
            [(seen[character] + self.smoothing) / total for character in self.alphabet]
        )
        if math.isinf(self.n_gram_weight):
            return n_gram
        weight = self.n_gram_weight
        longer = np.array([self.begun.get(prefix + character, 0) for character in self.alphabet])
        return np.asarray((longer + weight * n_gram) / (self.begun.get(prefix, 0) + weight))

    def log_prob(self, name: str) -> float:
        """The log-probability of a whole name; −inf if it has a character that no name had."""
        index = {character: i for i, character in enumerate(self.alphabet)}
        if END in name or any(character not in index for character in name):
            return -math.inf
        steps = enumerate(name + END)
        return math.fsum(math.log(self.chances(name[:at])[index[c]]) for at, c in steps)

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


def _history(prefix: str, order: int) -> str:
    """The last characters that the next one depends on; END fills up what is not there yet."""
    return (END * order + prefix)[-(order - 1) :] if order > 1 else ""


def _pick(chances: Floats, rng: np.random.Generator) -> int:
    below = chances.cumsum()
    return int(np.searchsorted(below[:-1], rng.random() * below[-1], side="right"))

"""Probabilities of candidate secrets by a causal language model of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import DomainError
from reconbench.missing_package import needed_by

Floats = npt.NDArray[np.float64]

SCORING = "scoring by a language model"


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """What a language model thinks of each candidate: − log P of its text, in so many tokens."""

    candidates: tuple[str, ...]
    costs: Floats
    tokens: npt.NDArray[np.int64]

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
        with needed_by(SCORING, "transformers"):
            library: Any = import_module("transformers")
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
        with needed_by(SCORING, "torch"):
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


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())

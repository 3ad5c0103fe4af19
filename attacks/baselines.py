"""Attacks that never look at the release."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from reconbench.attacks.base import AttackerView, Reconstruction


class PriorGuess:
    """The best guess from the prior and the known columns alone."""

    name: ClassVar[str] = "prior"

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        guess, success = view.metric.best_guess(view.prior, view.known, view.targets)
        return Reconstruction(guess, success)


class RandomGuess:
    """Codes drawn uniformly."""

    name: ClassVar[str] = "random"

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        sizes = view.target_domain.sizes
        return view.reconstruction(rng.integers(0, sizes, size=(view.n, len(sizes))))

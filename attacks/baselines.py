"""Baselines that never look at the release: the prior's best guess, and a random one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from reconbench.attacks.base import AttackerView, Reconstruction


class PriorGuess:
    """Guess from the prior and the known columns alone."""

    name: ClassVar[str] = "prior"
    looks_at_release: ClassVar[bool] = False

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        guess, success = view.metric.best_guess(view.prior, view.known, view.targets)
        return Reconstruction(guess, success)


class RandomGuess:
    """Guess every hidden value uniformly at random."""

    name: ClassVar[str] = "random"
    looks_at_release: ClassVar[bool] = False

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        sizes = view.target_domain.sizes
        return view.reconstruction(rng.integers(0, sizes, size=(view.n, len(sizes))))

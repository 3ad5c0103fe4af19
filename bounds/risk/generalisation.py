"""Generalisation: how far the losses on the training records and on fresh records can be apart.

Kulynych et al. 2025, appendix E, for replace-one neighbours. Records are drawn independently from
one distribution; the learner's output on n of them has the guarantee.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one


def generalisation_interval(
    training_loss: ArrayLike, guarantee: Guarantee
) -> tuple[FloatArray, FloatArray]:
    """The losses on fresh records that a loss on the training records leaves possible.

    f(1 − train) ≤ fresh ≤ 1 − f(train) (Kulynych 2025, Lemma E.1, on-average generalisation).
    Assumptions: n records drawn independently from any distribution P, any n ≥ 1; a loss
    ℓ(record; output) in [0, 1], such as being misclassified; train = E mean of ℓ over the training
    records, fresh = E ℓ on an independent draw of P, both expectations over tables and learner.
    Replace-one neighbours: a fresh record takes the place of a training record.

    The lemma holds both ways round, so the same interval has the training losses that a loss on
    fresh records leaves possible. Both ends are within the total variation of the loss given.

    Args:
        training_loss: expected loss on the training records, from 0 to 1; a number or an array.
        guarantee: what the learner promises, for replace-one neighbours.

    Returns:
        The lower and the upper end, of the shape of `training_loss`.
    """
    require_replace_one(guarantee, "Kulynych 2025, Lemma E.1")
    train = _validate.probabilities("training_loss", training_loss)
    # fresh ≤ 1 − f(train); the same for the loss 1 − ℓ: 1 − fresh ≤ 1 − f(1 − train)
    return guarantee.tradeoff(1 - train), guarantee.power(train)

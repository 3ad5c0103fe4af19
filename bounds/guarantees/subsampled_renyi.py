"""The Rényi guarantee of DP-SGD, by dp-accounting (extra `reconbench[accounting]`)."""

from __future__ import annotations

import numpy as np

from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.relation import Relation
from reconbench.bounds.guarantees.renyi import RenyiDP
from reconbench.missing_package import needed_by


def dp_sgd_renyi(
    noise_multiplier: float, sampling_probability: float, steps: int, orders: FloatArray
) -> RenyiDP:
    """DP-SGD with Poisson subsampling at some orders (Mironov, Talwar and Zhang 2019).

    Under add-or-remove-one neighbours. The curve of `composed.dp_sgd` is tighter.
    """
    with needed_by("Rényi accounting of DP-SGD", "dp_accounting", extra="accounting"):
        from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
        from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
    accountant = RdpAccountant(list(orders))
    one = PoissonSampledDpEvent(sampling_probability, GaussianDpEvent(noise_multiplier))
    accountant.compose(one, positive_integer("steps", steps))
    return RenyiDP(np.asarray(orders), np.asarray(accountant.rdp), Relation.ADD_REMOVE)

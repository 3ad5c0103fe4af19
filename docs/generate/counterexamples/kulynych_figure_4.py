import math

from dp_accounting.pld.privacy_loss_distribution import from_discrete_gaussian_mechanism

from reconbench.bounds import ZCDP, Relation, ReRoZCDP, worst_advantage
from reconbench.bounds.guarantees.composed import DiscreteGaussianRelease, composed

for level, rho in (("US", 0.073), ("block", 0.01095)):
    sigma = math.sqrt(10 / (2 * rho))
    rounded = from_discrete_gaussian_mechanism(sigma, value_discretization_interval=1e-3)
    up = rounded.self_compose(10).get_delta_for_epsilon(0.0)
    noise = DiscreteGaussianRelease(sigma, count=10)
    split = composed([noise], Relation.REPLACE_ONE).total_variation()
    rero = worst_advantage(ReRoZCDP(), ZCDP(rho))[0]
    saved = [f"{100 * (1 - ours / rero):.1f} %" for ours in (up, split)]
    print(f"{level}: rounded up to 0.001 {saved[0]} lower, split between grid points {saved[1]}")

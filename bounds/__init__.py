"""Privacy guarantees as trade-off curves, and the ceilings on reconstruction that follow.

- `guarantees`: what a mechanism promises: (ε, δ), Gaussian, Laplace, Rényi, profiles, composition.
- `ceilings`: how many of n targets any attack recovers. Start with `ceilings.base.Bound`.
- `risk`: success and advantage on one target.
- `calibration`: the noise, or the budget, for a given risk.
- `rad`: the reconstruction advantage of Guerra-Balboa 2026.
- `gradients`: an image from its noisy gradient (Riess 2026).
- `audit`: ceilings read backwards, from counts to a lower bound on ε.
- `poisson_binomial`: tails of sums of independent Bernoulli variables.

Needs numpy and scipy only; the chains of `audit.mcmc` load numba when they first run.
"""

if __name__ != "reconbench.bounds":
    raise ImportError("import this package as reconbench.bounds, not as bounds")

from reconbench.bounds.audit.one_run import (
    Membership,
    OneRunTest,
    Tally,
    UniformCanaries,
    one_run_ceiling,
    one_run_lower_bound,
)
from reconbench.bounds.calibration.measures import (
    Advantage,
    CeilingShare,
    GeneralisedAdvantage,
    Success,
    WorstAdvantage,
)
from reconbench.bounds.calibration.mechanism import mechanism_calibration_report
from reconbench.bounds.calibration.queries import (
    QueryCount,
    count_queries,
    epsilon_protect,
    laplace_queries,
    laplace_queries_pure,
)
from reconbench.bounds.calibration.reconstruction_advantage import ReconstructionAdvantage
from reconbench.bounds.calibration.report import calibration_report
from reconbench.bounds.calibration.singling_out import SinglingOutAnyone, SinglingOutTarget
from reconbench.bounds.calibration.solve import (
    Calibration,
    EpsilonFamily,
    GaussianFamily,
    NoAnswerError,
    calibrate,
)
from reconbench.bounds.ceilings.base import (
    CONFIDENCES,
    Bound,
    Declaration,
    HighProbabilityBound,
    Kind,
    MeanBound,
    NamedMetric,
    NotApplicable,
    Scope,
    Setting,
    Targets,
    WholePriors,
)
from reconbench.bounds.ceilings.compact_tail import CompactTail
from reconbench.bounds.ceilings.conditional import Floor32, Theorem33, beta_floor
from reconbench.bounds.ceilings.fdp_program import FdpProgram, fdp_program_ceilings
from reconbench.bounds.ceilings.fdp_recursion import FdpRecursion, fdp_ceilings
from reconbench.bounds.ceilings.mean import MeanFromGuess, mean_ceiling
from reconbench.bounds.ceilings.misfit import MisfitTheorem35
from reconbench.bounds.ceilings.prior_exact import PriorExact, prior_exact, prior_exact_bound
from reconbench.bounds.ceilings.prior_exact_sets import PriorExactSets, within
from reconbench.bounds.ceilings.profile import Profile, profile_ceilings
from reconbench.bounds.ceilings.profile_recursion import (
    ProfileRecursion,
    profile_recursion_ceilings,
)
from reconbench.bounds.ceilings.swanberg import (
    Corollary34,
    Theorem32,
    Theorem35,
    beta,
    corollary_3_4,
    run_tail,
    theorem_3_2,
    theorem_3_5,
)
from reconbench.bounds.ceilings.tail_runs import TailRuns, majorise_tail
from reconbench.bounds.guarantees.guarantee import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    Relation,
    as_replace_one,
    gaussian_mu,
)
from reconbench.bounds.guarantees.laplace import LaplaceDP
from reconbench.bounds.guarantees.notation.mechanism import (
    Mechanism,
    parse_guarantee,
    parse_mechanism,
)
from reconbench.bounds.guarantees.privacy_profile import (
    PrivacyProfile,
    compose_with_pair,
    optimal_composition,
    profile_of,
)
from reconbench.bounds.guarantees.randomised_response import RandomisedResponse
from reconbench.bounds.guarantees.renyi import ZCDP, RenyiBounded, RenyiDP, zcdp_rho
from reconbench.bounds.guarantees.tabulated import TabulatedCurve
from reconbench.bounds.poisson_binomial import PoissonBinomial
from reconbench.bounds.risk.generalisation import generalisation_interval
from reconbench.bounds.risk.leakage import (
    bits_leaked,
    leak_probability,
    memorisation,
    unbiased_reconstruction,
)
from reconbench.bounds.risk.one_target import (
    BinaryPriorBound,
    OneTargetBound,
    PriorExactBound,
    ProfileBound,
    ProfileRecursionBound,
    RiskBound,
    SharpestBound,
    TotalVariationBound,
    UnifiedBound,
    advantage,
    bayes_error,
    generalised_advantage,
    worst_advantage,
)
from reconbench.bounds.risk.renyi import (
    FanoInformation,
    FanoRenyi,
    ReRoPure,
    ReRoRenyi,
    ReRoZCDP,
    fano_information,
    gaussian_information,
)
from reconbench.bounds.risk.report import (
    BASELINE_GRID,
    RISK_BOUNDS,
    compare_bounds,
    risk_bounds,
    risk_report,
)
from reconbench.bounds.risk.singling_out import (
    Narcissus,
    SinglingOut,
    singling_out_approx,
    singling_out_baseline,
    strong_singling_out,
)

__all__ = [
    "BASELINE_GRID",
    "CONFIDENCES",
    "RISK_BOUNDS",
    "ZCDP",
    "Advantage",
    "ApproxDP",
    "BinaryPriorBound",
    "Bound",
    "Calibration",
    "CeilingShare",
    "CompactTail",
    "Corollary34",
    "Declaration",
    "EpsilonFamily",
    "FanoInformation",
    "FanoRenyi",
    "FdpProgram",
    "FdpRecursion",
    "Floor32",
    "GaussianDP",
    "GaussianFamily",
    "GeneralisedAdvantage",
    "Guarantee",
    "HighProbabilityBound",
    "Kind",
    "LaplaceDP",
    "MeanBound",
    "MeanFromGuess",
    "Mechanism",
    "Membership",
    "MisfitTheorem35",
    "NamedMetric",
    "Narcissus",
    "NoAnswerError",
    "NotApplicable",
    "OneRunTest",
    "OneTargetBound",
    "PoissonBinomial",
    "PriorExact",
    "PriorExactBound",
    "PriorExactSets",
    "PrivacyProfile",
    "Profile",
    "ProfileBound",
    "ProfileRecursion",
    "ProfileRecursionBound",
    "PureDP",
    "QueryCount",
    "RandomisedResponse",
    "ReRoPure",
    "ReRoRenyi",
    "ReRoZCDP",
    "ReconstructionAdvantage",
    "Relation",
    "RenyiBounded",
    "RenyiDP",
    "RiskBound",
    "Scope",
    "Setting",
    "SharpestBound",
    "SinglingOut",
    "SinglingOutAnyone",
    "SinglingOutTarget",
    "Success",
    "TabulatedCurve",
    "TailRuns",
    "Tally",
    "Targets",
    "Theorem32",
    "Theorem33",
    "Theorem35",
    "TotalVariationBound",
    "UnifiedBound",
    "UniformCanaries",
    "WholePriors",
    "WorstAdvantage",
    "advantage",
    "as_replace_one",
    "bayes_error",
    "beta",
    "beta_floor",
    "bits_leaked",
    "calibrate",
    "calibration_report",
    "compare_bounds",
    "compose_with_pair",
    "corollary_3_4",
    "count_queries",
    "epsilon_protect",
    "fano_information",
    "fdp_ceilings",
    "fdp_program_ceilings",
    "gaussian_information",
    "gaussian_mu",
    "generalisation_interval",
    "generalised_advantage",
    "laplace_queries",
    "laplace_queries_pure",
    "leak_probability",
    "majorise_tail",
    "mean_ceiling",
    "mechanism_calibration_report",
    "memorisation",
    "one_run_ceiling",
    "one_run_lower_bound",
    "optimal_composition",
    "parse_guarantee",
    "parse_mechanism",
    "prior_exact",
    "prior_exact_bound",
    "profile_ceilings",
    "profile_of",
    "profile_recursion_ceilings",
    "risk_bounds",
    "risk_report",
    "run_tail",
    "singling_out_approx",
    "singling_out_baseline",
    "strong_singling_out",
    "theorem_3_2",
    "theorem_3_5",
    "unbiased_reconstruction",
    "within",
    "worst_advantage",
    "zcdp_rho",
]

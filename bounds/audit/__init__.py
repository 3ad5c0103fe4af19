"""Audits: a ceiling read backwards, from counts to an interval for ε and a verdict.

- `one_run`: from the right guesses on the canaries of one run.
- `rad`, `ldp_auditor`: from the success of an attack on local reports.
- `proportions`: exact intervals for the probabilities that these rest on.
- `mcmc`: a posterior of ε from the errors of several attacks (Yildirim 2025).
- `verdict`: what an audit returns.
"""

from reconbench.bounds.audit.ldp_auditor import LdpAuditor
from reconbench.bounds.audit.one_run import audit_canaries, audit_membership
from reconbench.bounds.audit.proportions import (
    Averaged,
    Counted,
    Known,
    Proportion,
    chance_of_guesses,
)
from reconbench.bounds.audit.rad import (
    AUDITS,
    MeasuredRad,
    RadAudit,
    audit_black_box,
    audit_grr,
    audit_oue,
    audit_ss,
)
from reconbench.bounds.audit.verdict import EpsilonEstimate, Verdict

__all__ = [
    "AUDITS",
    "Averaged",
    "Counted",
    "EpsilonEstimate",
    "Known",
    "LdpAuditor",
    "MeasuredRad",
    "Proportion",
    "RadAudit",
    "Verdict",
    "audit_black_box",
    "audit_canaries",
    "audit_grr",
    "audit_membership",
    "audit_oue",
    "audit_ss",
    "chance_of_guesses",
]

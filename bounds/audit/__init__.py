"""Audits: a ceiling read backwards, from counts to an interval for ε and a verdict.

Needs numpy and scipy only.
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

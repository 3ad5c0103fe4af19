"""Audits: a ceiling read backwards, from counts to an interval for ε and a verdict.

Needs numpy and scipy only.
"""

from .ldp_auditor import LdpAuditor
from .one_run import audit_canaries, audit_membership
from .proportions import Averaged, Counted, Known, Proportion, chance_of_guesses
from .rad import (
    AUDITS,
    MeasuredRad,
    RadAudit,
    audit_black_box,
    audit_grr,
    audit_oue,
    audit_ss,
)
from .verdict import EpsilonEstimate, Verdict

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

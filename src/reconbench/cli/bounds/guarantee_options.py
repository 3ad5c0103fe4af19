"""The options that state a guarantee: a budget, μ, or a mechanism in the notation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli._options import name_flag

if TYPE_CHECKING:
    from reconbench.bounds import Guarantee

Epsilon = Annotated[float | None, typer.Option(help="Privacy budget ε; `inf` for no noise.")]
Delta = Annotated[float, typer.Option(help="Privacy parameter δ; 0 for pure DP.")]
Mu = Annotated[float | None, typer.Option(help="Parameter μ of Gaussian DP, instead of --epsilon.")]
Gaussian = Annotated[
    bool, typer.Option("--gaussian", help="The mechanism is Gaussian, calibrated to the budget.")
]
MechanismText = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="KIND:NAME=VALUE,...",
        help="The mechanism instead of --epsilon or --mu; several joined with +.",
    ),
]
RelationName = Annotated[
    str | None,
    typer.Option(
        "--relation",
        help="Neighbouring relation: replace-one or add-remove. Default: replace-one, or that of "
        "--mechanism.",
    ),
]
REPLACE_ONE = "replace-one"


def build_guarantee(
    epsilon: float | None,
    delta: float,
    mu: float | None,
    relation: str | None,
    mechanism: str | None,
    *,
    gaussian: bool,
) -> Guarantee:
    """The one guarantee that the options state."""
    from reconbench.bounds.guarantees.stated import state_guarantee

    return state_guarantee(
        epsilon,
        delta,
        mu=mu,
        gaussian=gaussian,
        mechanism=mechanism,
        relation=relation,
        called=name_flag,
    )


def name_mechanism(mechanism: str | None) -> dict[str, str]:
    """The entry of a report for the mechanism: its canonical text."""
    from reconbench.bounds import parse_mechanism

    return {} if mechanism is None else {"mechanism": parse_mechanism(mechanism).text}

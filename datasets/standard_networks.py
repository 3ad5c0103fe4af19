"""The discrete Bayesian networks of the bnlearn repository as data sets, by ``bn:NAME``.

They are read from the installed pgmpy, which carries them as BIF files; this package ships none of
them. Reading one does not import pgmpy.

A network of at most ``MOST_COLUMNS`` columns plays as any data set: an attacker knows all columns
but the targets. In a larger one the suggested game has fewer known columns, the Markov blanket of
its target: given these, all other columns say nothing about it. Exact inference is cheap for all of
these games, although it is not for every set of columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reconbench.datasets.bounded_files import read_text
from reconbench.datasets.domain import DomainError, quote
from reconbench.datasets.near_names import suggest_name
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import as_baynet, describe_network
from reconbench.datasets.network.bif_reader import BifNetwork, count_variables, read_bif

PREFIX = "bn:"
MOST_COLUMNS = 100
LICENCE = "CC BY-SA 3.0 (bnlearn repository)"
LICENCE_NOTE = (
    "the copy that is read comes with pgmpy, which is under the MIT licence; which licence the "
    "authors of the network gave it, if any, is not known to us"
)
SOURCE = "bnlearn Bayesian Network Repository, as pgmpy carries it"
_NOT_KNOWN = "not known to us; the bnlearn repository names no publication that we could check"

_MUNIN = (
    "S. Andreassen et al., MUNIN: an expert EMG assistant, in Computer-Aided Electromyography and "
    "Expert Systems, chapter 21, Elsevier, 1989"
)
_KORB = "K. B. Korb and A. E. Nicholson, Bayesian Artificial Intelligence, 2nd edition, CRC Press"


@dataclass(frozen=True)
class StandardNetwork:
    """What is known of a network beside its file, and a column that makes a game."""

    title: str
    citation: str
    target: str


NETWORKS: Mapping[str, StandardNetwork] = {
    "alarm": StandardNetwork(
        "Monitoring of patients under anaesthesia",
        "I. A. Beinlich, H. J. Suermondt, R. M. Chavez and G. F. Cooper, The ALARM monitoring "
        "system, AIME 1989, 247-256",
        "PRESS",
    ),
    "andes": StandardNetwork(
        "A student's knowledge in a tutoring system for physics",
        "C. Conati, A. S. Gertner, K. VanLehn and M. J. Druzdzel, On-line student modeling for "
        "coached problem solving using Bayesian networks, User Modeling 1997, 231-242",
        "KINE29",
    ),
    "asia": StandardNetwork(
        "Lung diseases, smoking and a visit to Asia",
        "S. Lauritzen and D. Spiegelhalter, Local computation with probabilities on graphical "
        "structures and their application to expert systems, JRSS B 50(2), 157-224, 1988",
        "smoke",
    ),
    "barley": StandardNetwork(
        "Growing malting barley without pesticides",
        "preliminary model by K. Kristensen, I. A. Rasmussen and others of the project Production "
        "of beer from Danish malting barley grown without the use of pesticides",
        "protein",
    ),
    "cancer": StandardNetwork("Lung cancer, a toy example", f"{_KORB}, 2010", "Dyspnoea"),
    "child": StandardNetwork(
        "Congenital heart disease of newborn babies",
        "D. J. Spiegelhalter and R. G. Cowell, Learning in probabilistic expert systems, Bayesian "
        "Statistics 4, 447-466, 1992",
        "Disease",
    ),
    "diabetes": StandardNetwork(
        "Adjusting insulin over a day",
        "S. Andreassen, R. Hovorka, J. Benn, K. G. Olesen and E. R. Carson, A model-based approach "
        "to insulin adjustment, AIME 1991, 239-248",
        "bg_0",
    ),
    "earthquake": StandardNetwork(
        "Alarm, burglary and earthquake, a toy example", f"{_KORB}, 2010", "JohnCalls"
    ),
    "hailfinder": StandardNetwork(
        "Forecasting severe weather in Colorado",
        "B. Abramson, J. Brown, W. Edwards, A. Murphy and R. L. Winkler, Hailfinder: a Bayesian "
        "system for forecasting severe weather, International Journal of Forecasting 12(1), 57-71, "
        "1996",
        "WndHodograph",
    ),
    "hepar2": StandardNetwork(
        "Diagnosis of liver disorders",
        "A. Onisko, Probabilistic causal models in medicine: application to diagnosis of liver "
        "disorders, PhD thesis, Polish Academy of Science, Warsaw, 2003",
        "alt",
    ),
    "insurance": StandardNetwork(
        "Risks of car insurance",
        "J. Binder, D. Koller, S. Russell and K. Kanazawa, Adaptive probabilistic networks with "
        "hidden variables, Machine Learning 29(2-3), 213-244, 1997",
        "Mileage",
    ),
    "link": StandardNetwork(
        "Linkage of genes in a pedigree",
        "C. S. Jensen and A. Kong, Blocking Gibbs sampling for linkage analysis in large pedigrees "
        "with many loops, American Journal of Human Genetics 65(3), 885-901, 1999",
        "N69_a_m",
    ),
    "mildew": StandardNetwork(
        "Mildew in winter wheat",
        "A. L. Jensen and F. V. Jensen, MIDAS: an influence diagram for management of mildew in "
        "winter wheat, UAI 1996, 349-356",
        "meldug_1",
    ),
    "munin": StandardNetwork("Electromyography, all of MUNIN", _MUNIN, "R_LNLW_MED_TIME"),
    "munin1": StandardNetwork("Electromyography, part 1 of MUNIN", _MUNIN, "R_LNLW_MED_TIME"),
    "munin2": StandardNetwork("Electromyography, part 2 of MUNIN", _MUNIN, "R_LNLW_MED_TIME"),
    "munin3": StandardNetwork("Electromyography, part 3 of MUNIN", _MUNIN, "L_ADM_QUAN_MUPPOLY"),
    "munin4": StandardNetwork("Electromyography, part 4 of MUNIN", _MUNIN, "R_LNLW_MED_TIME"),
    "pathfinder": StandardNetwork(
        "Diagnosis of lymph-node diseases",
        "D. Heckerman, E. Horvitz and B. Nathwani, Towards normative expert systems: part I, the "
        "Pathfinder project, Methods of Information in Medicine 31, 90-105, 1992",
        "F74",
    ),
    "pigs": StandardNetwork("Pedigree of breeding pigs", _NOT_KNOWN, "p392012788"),
    "sachs": StandardNetwork(
        "Protein signals in single human cells",
        "K. Sachs, O. Perez, D. Pe'er, D. A. Lauffenburger and G. P. Nolan, Causal "
        "protein-signaling networks derived from multiparameter single-cell data, Science 308, "
        "523-529, 2005",
        "Raf",
    ),
    "survey": StandardNetwork(
        "Which means of transport people use, a made-up survey",
        "M. Scutari and J.-B. Denis, Bayesian Networks: with Examples in R, Chapman & Hall",
        "E",
    ),
    "water": StandardNetwork(
        "A plant that treats waste water",
        "F. V. Jensen, U. Kjærulff, K. G. Olesen and J. Pedersen, Et forprojekt til et "
        "ekspertsystem for drift af spildevandsrensning, Judex Datasystemer, Aalborg, 1989",
        "CKNI_12_00",
    ),
    "win95pts": StandardNetwork(
        "Troubleshooting printers in Windows 95", _NOT_KNOWN, "DSApplctn"
    ),
}  # fmt: skip


def load_standard(name: str) -> BayNet:
    """Load a standard network by its name, without ``bn:``."""
    return _load(name)[0]


def read_card(name: str) -> dict[str, Any]:
    """Describe a standard network: source, licence, sizes, and a game that it makes."""
    net, network, text_sha256 = _load(name)
    target = NETWORKS[name].target
    game = {"targets": [target]}
    if len(net.domain) > MOST_COLUMNS:
        game["known"] = list(find_blanket(net, target))
    return {
        **describe_briefly(name),
        **describe_network(network),
        "largest_table": max(cpt.size for cpt in net.cpts),
        "zeros": sum(int((cpt == 0).sum()) for cpt in net.cpts),
        "data_sha256": text_sha256,
        "game": game,
    }


def describe_briefly(name: str) -> dict[str, Any]:
    """The part of a card that needs no tables; ``columns`` only where pgmpy is installed."""
    _check_name(name)
    network = NETWORKS[name]
    try:
        columns = {"columns": count_variables(read_text(find_file(name)))}
    except DomainError:
        columns = {}
    return {
        "title": network.title,
        "source": SOURCE,
        "citation": network.citation,
        "licence": LICENCE,
        "licence_note": LICENCE_NOTE,
        **columns,
    }


def find_blanket(net: BayNet, target: str) -> tuple[str, ...]:
    """The Markov blanket of a column: its parents, its children and their other parents."""
    at = net.domain.position(target)
    families = [{child, *given} for child, given in enumerate(net.parents)]
    blanket = set[int]().union(*(family for family in families if at in family)) - {at}
    return tuple(net.domain.names[position] for position in sorted(blanket))


@cache
def _load(name: str) -> tuple[BayNet, BifNetwork, str]:
    _check_name(name)
    path = find_file(name)
    text = read_text(path)
    try:
        network = read_bif(text)
        return as_baynet(network), network, hashlib.sha256(text.encode()).hexdigest()
    except DomainError as error:
        raise DomainError(f"{path}: {error}") from None


def _check_name(name: str) -> None:
    if name not in NETWORKS:
        known = [f"{PREFIX}{network}" for network in NETWORKS]
        raise DomainError(
            f"unknown network {quote(PREFIX + name)}; known: {', '.join(known)}"
            f"{suggest_name(PREFIX + name, known)}"
        )


def find_file(name: str) -> Path:
    """Where the installed pgmpy keeps a network; pgmpy is not imported, which takes seconds."""
    spec = find_spec("pgmpy")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "utils" / "example_models" / f"{name}.bif.gz"
        if path.is_file():
            return path
    try:
        found = f"pgmpy {version('pgmpy')}, which is installed, does not have it"
    except PackageNotFoundError:
        found = "pgmpy is not installed"
    raise DomainError(
        f"{PREFIX}{name} is read from the package pgmpy: {found}; install pgmpy 1.1.2 "
        "(pip install 'pgmpy>=1.1.2,<1.2'), or give a .bif file of your own"
    )

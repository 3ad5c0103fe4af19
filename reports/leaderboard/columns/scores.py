"""Columns about which guesses were right: by the attack's scores, and by how rare values are."""

from __future__ import annotations

from reconbench.benchmarks.store.summary import FALSE_POSITIVE_RATES
from reconbench.reports.column import Column, Direction

_RARITY = (
    ("right", "the share that the attack reconstructed", Direction.LEAKED),
    ("prior", "the share that the prior's best guesses reconstructed", Direction.GUESSED),
    ("most", "the share that no attack exceeds in expectation, for exact match", Direction.ALLOWED),
)
SCORE_COLUMNS = (
    Column(
        "promised",
        "records that the attack's own scores predict: the sum of the probabilities that it "
        "gives its guesses, mean over repetitions; empty if it gives none",
        direction=Direction.CLAIMED,
    ),
    Column(
        "calibration_error",
        "score reliability: distance between the probabilities that the attack gives its "
        "guesses and the share that is right, with records grouped by tenths of the scale, "
        "mean over records; 0 if every probability holds, but chance alone gives a few "
        "hundredths",
        direction=Direction.MISJUDGED,
    ),
    Column(
        "calibration",
        "score reliability in full: for each tenth of the scale that has records, the tenth (0 "
        "to 9), the number of records, their mean score and how many were right, joined by "
        "colons; all repetitions",
        "text",
    ),
    *(
        Column(
            f"tpr_{rate}",
            "true-positive rate: of the attack's right guesses, the share that it is surer of "
            f"than of all but {rate} of its wrong ones, table by table; scores that say "
            "nothing get a share of 1/(wrong guesses of a table + 1) or a little more than "
            f"{rate}, whichever is larger; empty if the attack gives no scores",
            direction=Direction.LEAKED,
        )
        for rate in FALSE_POSITIVE_RATES
    ),
    *(
        Column(
            f"rarity_{name}",
            f"of the bits of all hidden values, {meaning}; a record has "
            "−log2 of the probability of its values among all records, so that rare ones count "
            "more",
            direction=direction,
        )
        for name, meaning, direction in _RARITY
    ),
)

"""The words of a leaderboard, each in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "game": "A table of n records is drawn from a prior, a mechanism publishes a noisy summary of "
    "it, and the attacker guesses the target columns of every record.",
    "cell": "One game at one setting: data set, target columns, budget, n, metric and adversary.",
    "repetition": "The same game with a fresh table and fresh noise. Every attack meets the same "
    "ones, so attacks are compared pair by pair.",
    "prior": "The distribution of one record, known to the attacker before the release.",
    "baseline": "Records that the best guess from the prior alone gets, without the release. What "
    "an attack has above it comes from the release.",
    "success": "Records reconstructed, out of n. Higher: more leaked.",
    "best possible": "What the Bayes-optimal attack of the same adversary expects from the same "
    "releases. No attack that sees no more does better on average.",
    "ceiling on the mean": "No attack, whatever it computes, gets more records than this on "
    "average over runs. Lower: a stronger promise.",
    "ceiling of a single run": "At most this many records are reconstructed with the stated "
    "probability: at 95 %, at most 5 runs in 100 pass it. Lower: a stronger promise.",
    "reconstruction advantage": "RAD: the success rate on records that took part, less that of the "
    "same attack on them when others took part in their place. 0: nothing was learnt from taking "
    "part, however often the guess is right. Higher: more leaked.",
    "share of the gap closed": "0: no better than the prior's guess. 1: all that the ceiling on "
    "the mean allows. Higher: a stronger attack, more leaked.",
    "rank": "1 + the number of attacks whose whole interval lies above. Attacks whose intervals "
    "overlap tie. Lower: a stronger attack.",
    "cells finished": "Cells in which the attack finished at least one repetition, of those that "
    "have a ceiling on the mean above the baseline. The others count as the prior's guess.",
    "seconds a table": "What the attack takes for one table, mean over cells. Higher: slower.",
    "plain mean": "The same share, each cell weighing alike, over cells with a gap of at least 1 % "
    "of n: beside the ranking, not part of it.",
    "interval": "95 % Student interval over repetitions: where the mean would lie with many more.",
    "sign-flip test": "If two attacks were equally good, every difference between them could as "
    "well have the other sign: p is the share of sign patterns that are as extreme.",
    "Holm": "A correction for making many tests: adjusted p-values below 5 % hold for all rows "
    "together with an error rate of 5 %.",
    "ε": "The privacy budget of the release. Lower: more noise, more privacy. ∞: no noise.",
    "adversary": "Realistic: knows the known columns of every record. Informed: knows every other "
    "record in full, the threat model that most bounds assume.",
    "flag": "An automatic warning. Red: do not trust the row before you know why. Yellow: read it "
    "with care. Grey: good to know.",
}

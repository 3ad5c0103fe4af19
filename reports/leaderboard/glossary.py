"""The glossary of the leaderboard page: each term in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "game": "A table of n records is drawn from a prior, a mechanism publishes a noisy summary of "
    "it, and the attacker guesses the target columns of every record.",
    "cell": "One game at one setting: data set, target columns, budget, n, metric and adversary.",
    "repetition": "The same game with a fresh table and fresh noise. All attacks meet the same "
    "tables and noise, so they are compared repetition by repetition.",
    "prior": "The distribution of one record, known to the attacker before the release.",
    "baseline": "Records that the best guess from the prior alone gets, without the release. What "
    "an attack gets beyond it comes from the release.",
    "success": "Records reconstructed, out of n. Higher: more leaked.",
    "expected success": "Records that the attack's guesses are worth given the release, whatever "
    "table was drawn: what the prior expects, plus the mean gain over the prior's guess. It has "
    "the mean of the success without most of its noise, so ranks, figures and sentences use it. "
    "The plain count is in the opened row and in the CSV.",
    "best possible": "What the Bayes-optimal attack of the same adversary expects from the same "
    "releases. No attack with the same knowledge does better on average.",
    "best attack, 95 %": "A number of records that the Bayes-optimal attack on this very mechanism "
    "exceeds in at most 5 runs of 100, over these releases. The 95 % ceiling covers every "
    "mechanism with the same guarantee; only knowledge of the mechanism removes the difference.",
    "ceiling on the mean": "No attack, whatever it computes, gets more records than this on "
    "average over runs. Lower: a stronger guarantee.",
    "ceiling on a single run": "At most this many records are reconstructed with the stated "
    "probability: at 95 %, at most 5 runs in 100 exceed it. Lower: a stronger guarantee.",
    "reconstruction advantage": "RAD: the success rate on records that took part, minus that of "
    "the same attack on the same records when others took their place. 0: taking part revealed "
    "nothing, however often the guess is right. Higher: more leaked.",
    "share of the gap closed": "0: no better than the prior's guess. 1: everything that the "
    "ceiling on the mean allows. No gap: the ceiling is too close to the baseline to tell. Higher: "
    "a stronger attack, more leaked.",
    "rank": "1 + the number of attacks whose whole interval lies above. Attacks whose intervals "
    "overlap tie. Lower: a stronger attack.",
    "cells finished": "Cells in which the attack finished at least one repetition, out of those "
    "whose ceiling on the mean is above the baseline. An unfinished cell counts as the prior's "
    "guess.",
    "seconds per table": "Time that the attack takes for one table, mean over cells. Higher: "
    "slower.",
    "plain mean": "The same share with equal weight for every cell, over cells with a gap of at "
    "least 1 % of n. Shown for comparison; it does not decide the rank.",
    "interval": "95 % Student interval over repetitions: where the mean over many more would lie. "
    "It may reach above a ceiling on the mean, and after few repetitions so may the score itself.",
    "sign-flip test": "If two attacks were equally good, every difference between them could just "
    "as well have the opposite sign: p is the share of sign patterns at least as extreme.",
    "Holm": "A correction for many tests: calling every row with an adjusted p-value below 5 % "
    "different is wrong about any of them with a probability of at most 5 %.",
    "ε": "The privacy budget of the release. Lower: more noise, more privacy. ∞: no noise.",
    "adversary": "Realistic: knows the known columns of every record. Informed: knows every other "
    "record in full; only ceilings on the mean hold for this one.",
    "flag": "An automatic warning. Red: do not trust the row before you know the cause. Yellow: "
    "read it with care. Grey: for information.",
}

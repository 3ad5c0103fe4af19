# %% [markdown]
# # Synthetic data with a ceiling
#
# A generator is fitted to private records with differential privacy, and a table of
# made-up people is published in their place. Nobody in it exists. Does that protect
# the people behind it, and how far? This page attacks a synthetic table and compares
# with what any attack could get.

# %%
import reconbench as rb

# %% [markdown]
# ## A synthetic table
#
# The generator `pgm` measures some sets of columns with noise, fits a graphical model
# to the noisy counts, and draws as many people from it as there were. With the
# structure `star` it measures every pair of the hidden column with another one. Age
# is hidden; four columns are known.

# %%
known = ["MAR", "RELP", "SEX", "MIL"]
one = rb.Game(
    "acs",
    ("AGEP",),
    known=tuple(known),
    epsilon=30.0,
    mechanism="pgm",
    mechanism_options={"structure": "star"},
)
released = rb.Round.draw(one).view.release.table
released.to_pandas().head()

# %% [markdown]
# No row stands for a person of the private table. What the rows tell is how columns
# go together, and among a hundred people that says something about each of them.
#
# ## Attacks
#
# - `prior` guesses from the population and ignores the table. It is the baseline.
# - `naive-bayes` learns from the synthetic rows to predict age from the known
#   columns, and applies that to the real people. Most published attacks work like
#   this.
# - `cliques` knows the population as well. It asks what the synthetic table says
#   *beyond* what any such table would say, and trusts it only as far as a rehearsal
#   on imagined tables allows.

# %%
attacks = ["prior", "naive-bayes", "cliques"]
star = ("pgm", {"structure": "star"})
game = {"known": known, "attack": attacks, "reps": 6, "seed": 0}
few = rb.play("acs", "AGEP", epsilon=[3, 30], mechanism=star, **game)
shown = {
    "epsilon": "ε",
    "attack": "attack",
    "expected_success": "expected",
    "expected_success_low": "low",
    "expected_success_high": "high",
    "best_possible": "best possible",
    "tightest_mean": "ceiling on the mean",
}
few.frame[list(shown)].rename(columns=shown).round(1)

# %% [markdown]
# Numbers are people of 100; *low* and *high* are 95 % intervals over six tables. They do
# not cover the luck of the rehearsal, which the six tables share ([sharp
# edges](../sharp-edges.md#repetitions-share-what-was-learnt)).
#
# Look at `naive-bayes` at ε = 3. It gets *fewer* people right than guessing from the
# prior: it believes a noisy table of a hundred rows more than it should. If somebody
# reports that a synthetic table resists such an attack, that says little about the
# table.
#
# ## What any attack could get
#
# Two numbers do not depend on the attack.
#
# The **ceiling** follows from (ε, δ) alone. Whatever a generator does with its
# budget, no attack expects more. At ε = 30 it rules out next to nothing.
#
# The **best possible** is about this generator. The synthetic table is made from the
# noisy counts and from nothing else, so whoever sees the counts sees at least as
# much. What the best attack on the counts expects can be computed, and no attack on
# the table exceeds it.
#
# Between `cliques` and the best possible there is a gap. Is it protection?
#
# ## More rows
#
# The generator can draw as many people as anybody likes. That costs no budget. Here
# are fifty rows for every person:

# %%
long = ("pgm", {"structure": "star", "rows": "50n"})
many = rb.play("acs", "AGEP", epsilon=[3, 30], mechanism=long, **game)
many.frame[list(shown)].rename(columns=shown).round(1)

# %% alt="Gains over guessing from the prior with fifty rows per person: at ε = 30 the attack cliques comes close to the best possible, both far below the ceiling on the mean"
many.plot()

# %% [markdown]
# At ε = 30 the attack now comes up to the best possible: its interval includes it,
# and lies above the whole interval from before. The best possible has not moved
# beyond the error of its estimate, as it must be: the noisy counts are the same. So
# the gap was no protection. A hundred drawn rows blur what the generator knows, and
# no guarantee covers that.
#
# ## A generator that chooses
#
# `mst` looks at the table to choose which pairs it measures. The choice is paid for
# by the budget, so the ceiling is the same. But the best possible is not known: the
# choice gives something away that no computation here counts.

# %%
chosen = rb.play("acs", "AGEP", epsilon=30, mechanism="mst", **game)
present = [name for name in shown if name in chosen.frame]
chosen.frame[present].rename(columns=shown).round(1)

# %% [markdown]
# No attack gains beyond chance here. The intervals are wide: without a posterior to
# judge by, guesses count as drawn. Does `mst` protect better than `pgm`? It measures
# a tree of pairs, fewer of which hold the age, so its tables say less about age to
# friend and foe alike. [The results](../synthetic-results.md) compare six generators
# on four columns.
#
# ## What to remember
#
# - *Made-up people* is no argument. Ask what was measured, with which guarantee, and
#   what the best possible attack gets.
# - Compare with guessing from the prior. An attack that loses to it says nothing
#   about the release.
# - The number of rows is no protection.
#
# For a table of your own, `rb.assess(..., mechanism=("pgm", {"structure": "star"}))`
# does all of this: [my own table](own_table.py). For a table that is already out, see
# [judge a table that is out](../synthetic.md#judge-a-table-that-is-out).

# %% [markdown]
# # A first game, and what its ceiling means
#
# A statistical agency publishes counts of a table with noise. An attacker who knows
# fifteen columns of every person in the table wants the sixteenth. How many people
# does the attacker get right, and how many could any attacker get right? This page
# plays that game and reads its result.

# %%
import numpy as np

import reconbench as rb

# %% [markdown]
# ## The prior
#
# People are not random: age tells about marital status, and marital status about the
# household. What is known of the population before anything is published is the
# *prior*. This one is a Bayesian network fitted to the American Community Survey, and
# it can draw people who do not exist.

# %%
acs = rb.load_prior("acs")
acs.sample(5, np.random.default_rng(0)).to_pandas()[
    ["AGEP", "SEX", "MAR", "SCHL", "RELP"]
]

# %% [markdown]
# ## The game
#
# One repetition of a game draws a table of 100 people from the prior, hides the
# column `SEX`, and releases the counts of all sets of three columns that include it,
# with Gaussian noise for (ε, δ) = (1, 10⁻⁵). Then every attack guesses the 100 hidden
# values from the release and the other columns. Three attacks play:
#
# - `prior` does not look at the release. What it gets is the *baseline*.
# - `rap` is an attack from the literature: it searches a table whose counts match the
#   release.
# - `posterior` computes, for every person, how likely each value is given the
#   release. In this game no attack does better on average.

# %%
attacks = ["prior", "rap", "posterior"]
game = rb.play("acs", "SEX", epsilon=1, attack=attacks, reps=12, seed=0)
print(game.summary())

# %% [markdown]
# The twelve tables and their noise follow from the seed, so you get the same numbers.
# Every attack met the same tables, which makes their differences comparable.
#
# The frame has one row per attack. These are the columns to read first:

# %%
columns = {
    "attack": "attack",
    "expected_success": "expected",
    "expected_success_low": "low",
    "expected_success_high": "high",
    "baseline_expected": "prior alone",
    "best_possible": "best possible",
    "tightest_mean": "ceiling on the mean",
    "tightest_0.95": "95 % ceiling",
}
game.frame[list(columns)].rename(columns=columns).round(1)

# %% [markdown]
# All numbers are people out of 100.
#
# - **expected** is what the attack's guesses are worth, with the luck of the twelve
#   tables taken out; *low* and *high* are its 95 % interval over the tables.
# - **prior alone** is what is right without any release. Most of an attack's success
#   is in here: an attack that gets 62 people right has learnt nothing.
# - **best possible** is what the best attack in this game expects.
# - The two **ceilings** are theorems. They hold for every attack, also for one that
#   nobody has thought of yet.

# %% [markdown]
# ## Two kinds of ceiling
#
# The *ceiling on the mean* bounds the average over many tables: no attack expects
# more. A single table may give more by luck. The *95 % ceiling* is about a single
# table: an attack exceeds it in at most 5 % of repetitions. So it is higher, and it
# covers the luck of the draw.
#
# `rows` has every repetition. Here is how far each attack got on its luckiest table,
# and how many of its twelve tables were above their 95 % ceiling.

# %%
rows = game.rows
rows["above"] = rows["successes"] > rows["ceiling_fdp-recursion_0.95"]
rows.groupby("attack").agg(
    luckiest=("successes", "max"), above=("above", "sum")
)

# %% [markdown]
# A ceiling needs no game at all, only the guarantee and what the prior alone gets.
# Take 100 people of whom the prior gets 62 %:

# %%
answer = rb.ceiling(0.62, n=100, epsilon=1, delta=1e-5, gaussian=True)
answer.frame.query("confidence not in (0.05, 0.5)").drop(
    columns="reference"
).round(2)

# %% [markdown]
# A line without a confidence is a ceiling on the mean. The theorems differ because
# they use different things. `thm35` knows nothing but ε and δ, `profile-recursion`
# also knows that the noise is Gaussian, and the two `fdp` bounds and `prior-exact`
# use the whole prior of every person besides. [Ceilings](../ceilings.md) says which
# to take.

# %% [markdown]
# ## Columns differ
#
# The same budget gives away more of one column than of another. The figure has a line
# for each hidden column, and gains over guessing from the prior.

# %%
columns = ["SEX", "AGEP", "SCHL", "MAR"]
attacks = ["prior", "posterior"]
four = rb.play("acs", columns, epsilon=[1, 10], attack=attacks, reps=12, seed=0)

# %% alt="Gains of the posterior attack on four columns at two budgets: about one record of 100 at ε = 1, five to seventeen at ε = 10, each beside the best possible and the ceiling on the mean"
four.plot()

# %% [markdown]
# Mind the two scales. Schooling has most to lose: it has 24 values, and the prior
# alone gets it right for only a quarter of the people. Marital status is mostly known
# from age and household anyway, so there is little left to give away. The dot covers
# the black tick, because here the attack *is* the best possible.
#
# At ε = 1 an interval can reach beyond the grey bar. That is no contradiction: the
# bar limits the average over all tables, and twelve of them are a sample.

# %% [markdown]
# ## More budget
#
# One column at five budgets:

# %%
sweep = rb.play(
    "acs", "SEX", epsilon=[0.3, 1, 3, 10, 30], attack=attacks, reps=6, seed=0
)

# %% alt="Share of records reconstructed against ε: the prior alone stays at 62 percent, the posterior attack rises from there to 88 at ε = 30, the ceiling on the mean to 99, and the band of one-run ceilings reaches 100 at ε = 10"
sweep.plot("epsilon")

# %% [markdown]
# At ε = 0.3 the release is worth nothing: guessing from the prior is as good. At ε =
# 1 it is worth about one person of 100, and at ε = 30 about 26. The upper edge of the
# grey area, the 95 % ceiling, is at 100 from ε = 10 on: for a single table no theorem
# rules out anything any more. The ceiling on the mean still says something there.
#
# The distance between the black dots and the grey line is no better attack that waits
# to be found: in this game nobody does better than the dots. The line holds for every
# mechanism with this guarantee, and for an attacker who knows all *other* people in
# full. [Results](../results.md) takes the distance apart.
#
# ## What to remember
#
# - Compare a success with what the prior alone gets. The difference is what the
#   release gave away.
# - A ceiling says what cannot happen. It does not say that somebody can get that far.
# - At one ε, columns differ: what can be lost depends on how much the prior leaves
#   open.
#
# Next: [your own table](own_table.py), or [an attack of yours](write_an_attack.py).
# The words are in the [glossary](../glossary.md), the traps in [sharp
# edges](../sharp-edges.md).

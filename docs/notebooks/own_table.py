# %% [markdown]
# # My own table: fit, assess, choose ε
#
# You have a table of people and want to publish statistics of it with differential
# privacy. What would an attacker learn who already knows some columns? And which ε
# keeps that small? This page goes from a table to an answer.

# %%
import numpy as np
import pandas as pd

import reconbench as rb

# %% [markdown]
# ## The table
#
# A club of 120 people keeps five facts about each. (They are made up: drawn from a
# prior of the American Community Survey, with ages in years and four levels of
# schooling.) Read your own table with `pd.read_csv`.

# %%
rng = np.random.default_rng(5)
drawn = rb.load_prior("acs").sample(120, rng)
names = {"SEX": "sex", "RELP": "household", "MAR": "marital"}
levels = ["below high school", "high school", "some college", "degree"]

people = drawn.to_pandas()[list(names)].rename(columns=names).astype(str)
people["age"] = 10 * drawn.column("AGEP") + rng.integers(10, size=120)
people["schooling"] = np.take(
    levels, np.digitize(drawn.column("SCHL"), [16, 18, 21])
)
people.head()

# %% [markdown]
# ## What is public
#
# The columns, their labels and their bins will be public, because statistics are
# published for them. So they must come from a questionnaire, never from the records:
# a list of answers that was read off the table would say that each of them occurs in
# it. Here the questionnaire is that of the survey.

# %%
survey = rb.load_prior("acs").domain
attributes = [
    {"name": "age", "edges": [0, 18, 30, 45, 60, 75, 100]},
    {"name": "schooling", "labels": levels, "ordinal": True},
]
attributes += [
    {"name": new, "labels": list(survey[old].labels)}
    for old, new in names.items()
]
domain = {"attributes": attributes}

# %% [markdown]
# ## The prior
#
# An attacker knows the population before anything is published. How well? Here the
# prior is a Bayesian network fitted to the table itself: a well-informed attacker,
# who guesses many people right without any release. One who knows less guesses fewer
# right, but may gain more from the release. We come back to that when we choose ε.

# %%
prior = rb.fit(people, domain)
prior

# %% [markdown]
# A network is a simplification. Does it miss what two columns have in common? The
# test compares every pair with what the network says of it, and allows for chance.

# %%
from reconbench.datasets.network.misfit import measure_misfit
from reconbench.datasets.own_table import read_table

misfit = measure_misfit(prior, read_table(people, prior.domain))
print(len(misfit.missed), "of", misfit.pairs, "pairs are missed")

# %% [markdown]
# ## The question
#
# An attacker knows age, sex, marital status and household role of everybody in the
# club, as a neighbour might. Schooling is what should stay private. All counts of
# three columns that include it are to be released. What does that give away at five
# budgets? And which budgets keep the gain over guessing below five percentage points?

# %%
result = rb.assess(
    people,
    "schooling",
    domain=domain,
    prior=prior,
    epsilon=3,
    epsilons=[0.3, 1, 3, 10, 30],
    max_risk=0.05,
    reps=6,
    seed=0,
)
print(result.summary())

# %% alt="Gain over guessing without a release against ε: close to zero up to ε = 1, then rising, and below the line that no attack exceeds on average"
result.plot()

# %% [markdown]
# The same in numbers, as shares of the people. *guessed* is right without any
# release, *success* with it, each on your table. *most gain* is a theorem: no attack
# expects to gain more. *high* is the share that no attack exceeds in 95 % of runs.

# %%
columns = [
    "epsilon",
    "guessed",
    "success",
    "success_margin",
    "gain",
    "most_gain",
    "high",
]
best = result.frame[result.frame["attack"] != "prior"]
best[columns].round(3)

# %% [markdown]
# *success margin* is half a 95 % interval over the six repetitions of the noise. At ε
# = 0.3 the gain is above *most gain*: your table is one table, and the theorem is
# about the average over tables drawn from the prior. Within the margin that is
# chance.
#
# ## Who is exposed?
#
# An average hides people. These kinds of record gain most at ε = 3; kinds of fewer
# than ten people are not shown.

# %%
exposed = result.exposed.sort_values("gain", ascending=False).head(6)
exposed[["column", "label", "records", "guessed", "success", "gain"]].round(2)

# %% [markdown]
# People with some college are hard to guess from age and household, so the release
# gives away most about them: from about a fifth guessed right to twice as many. If a
# kind of record is sensitive, look here before you look at the average.
#
# ## Choose ε
#
# Which ε keeps the gain below five points? That depends on what you are ready to
# assume.

# %%
pd.DataFrame(result.document["proved"])[["scope", "epsilon"]].round(2)

# %% [markdown]
# These answers are *proved*: they hold whatever the attack is.
#
# - `mean`: on average over the people, for an attacker with the prior above.
# - `worst-record`: for every single one of them, with the same prior.
# - `any-prior`: for everybody, whatever an attacker knows beforehand.
#
# The less is assumed, the smaller is ε. Attacks that can be played give larger
# answers, and promise less:

# %%
pd.DataFrame(result.document["measured"]).round(2)

# %% [markdown]
# On your table (`real`) the best attack stayed within the limit up to the ε that it
# `keeps`, and exceeded it at the one that it `passes`; `about` lies in between.
# `fresh` is the same on tables drawn from the prior.
#
# A careful curator takes a proved answer. Arguing for a larger ε with a measured one
# is possible, and then everybody knows what is at stake.
#
# ## Before you publish
#
# - **The result is confidential.** It was computed from the records without noise,
#   and so was the prior. `result.save("assessment")` writes a report for the people
#   who may see the table.
# - **Every release counts.** Two releases with ε = 1 each are one with ε = 2 at most.
#   Plan for all of them together.
# - **Real noise** comes from a vetted library: `reconbench data release` counts the
#   cells and lets OpenDP draw it.
#
# More: [assess your own table](../assess.md) from the command line, [bring your own
# table](../data.md#bring-your-own-table) for files, bins and missing values,
# [calibration](../calibration.md) for a single person's risk.

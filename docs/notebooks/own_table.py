# %% [markdown]
# # My own table: fit, assess, choose ε
#
# You have a table of people and want to publish statistics of it with differential privacy. What would an
# attacker learn who already knows some columns? And which ε keeps that small? This page goes from a
# table to an answer.

# %%
import numpy as np
import pandas as pd

import reconbench as rb

# %% [markdown]
# ## The table
#
# Three hundred people answered five questions. (They are made up: drawn from a prior of the American
# Community Survey, with ages in years.) Read your own table with `pd.read_csv`.

# %%
rng = np.random.default_rng(5)
drawn = rb.load_prior("acs").sample(300, rng)
names = {"AGEP": "age", "SEX": "sex", "RELP": "household", "MIL": "military", "MAR": "marital"}
people = drawn.to_pandas()[list(names)].rename(columns=names).astype(str)
people["age"] = 10 * drawn.column("AGEP") + rng.integers(10, size=300)
people.head()

# %% [markdown]
# ## What is public
#
# The columns, their labels and their bins will be public, because statistics are published for them. So
# they must come from the questionnaire, never from the records: if the list of answers were read off the
# table, it would say that each of them occurs in it. Here the questionnaire is that of the survey.

# %%
survey = rb.load_prior("acs").domain
domain = {
    "attributes": [{"name": "age", "edges": [0, 18, 30, 45, 60, 75, 100]}]
    + [
        {"name": new, "labels": list(survey[old].labels)}
        for old, new in names.items()
        if new != "age"
    ]
}
for attribute in domain["attributes"]:
    print(attribute["name"], attribute.get("edges") or f"{len(attribute['labels'])} labels")

# %% [markdown]
# ## The prior
#
# An attacker knows the population before anything is published. How much? We grant a lot: a Bayesian
# network fitted to the table itself. That makes the guess *without* a release good, and what the release
# adds shows more clearly.

# %%
prior = rb.fit(people, domain)
prior

# %% [markdown]
# A network is a simplification. Does it miss what two columns have in common? The test compares every pair
# with what the network says of it, and allows for chance.

# %%
from reconbench.datasets.network.misfit import measure_misfit
from reconbench.datasets.own_table import read_table

misfit = measure_misfit(prior, read_table(people, prior.domain))
print(len(misfit.missed), "of", misfit.pairs, "pairs are missed")

# %% [markdown]
# ## The question
#
# An attacker knows age, sex, household role and military service of everybody in the table, as a
# neighbour or an employer might. The marital status is what should stay private. All 3-way counts that
# include it are to be released. What does that give away at five budgets? And which of them keep the gain
# over guessing below five percentage points?

# %%
result = rb.assess(
    people,
    "marital",
    domain=domain,
    prior=prior,
    epsilon=3,
    epsilons=[0.3, 1, 3, 10, 30],
    max_risk=0.05,
    reps=4,
    seed=0,
)
print(result.summary())

# %% alt="Gain over guessing without a release against ε: close to zero up to ε = 1, then rising, and below the line that no attack exceeds on average"
result.plot()

# %% [markdown]
# The same in numbers, as shares of the people. *guessed* is right without any release, *success* with
# it, each on your table. *most gain* is a theorem: no attack expects to gain more. *high* is the share
# that no attack exceeds in 95 % of runs.

# %%
columns = ["epsilon", "guessed", "success", "success_margin", "gain", "most_gain", "high"]
best = result.frame[result.frame["attack"] != "prior"]
best[columns].round(3)

# %% [markdown]
# *success margin* is half a 95 % interval over the repetitions of the noise. The table is one table, so
# its gain can be above *most gain* by chance; the theorem is about tables drawn from the prior.
#
# ## Who is exposed?
#
# An average hides people. These kinds of record gain most at ε = 3; kinds of fewer than ten people are
# not shown.

# %%
exposed = result.exposed.sort_values("gain", ascending=False).head(6)
exposed[["column", "label", "records", "guessed", "success", "gain"]].round(2)

# %% [markdown]
# Rare answers are what an attacker hardly ever guesses without a release, so there is most to gain. If
# they are sensitive, look at this table before you look at the average.
#
# ## Choose ε
#
# Which ε keeps the gain below five points? There are several answers, by what one is ready to assume.

# %%
proved = pd.DataFrame(result.document["proved"])
proved

# %% [markdown]
# - *Proved* answers hold whatever the attack is. The first is about the average person and the prior
#   above; the others assume less, so they allow less.
# - *Measured* answers say where the best attack that can be played exceeded the limit. They allow more,
#   and promise less.

# %%
pd.DataFrame(result.document["measured"])

# %% [markdown]
# A careful curator takes a proved answer. Whoever argues for a larger ε can do so with the measured ones,
# and knows what is at stake.
#
# ## Before you publish
#
# - **The result is confidential.** It was computed from the records without noise, and so was the prior.
#   `result.save("assessment")` writes a report for the people who may see the table.
# - **Every release counts.** Two releases at ε = 1 are one at ε = 2 or so; plan for all of them.
# - **Real noise** comes from a vetted library: `reconbench data release` counts the cells and lets OpenDP
#   draw it.
#
# More: [assess your own table](../assess.md) from the command line, [bring your own
# table](../data.md#bring-your-own-table) for files, bins and missing values,
# [calibration](../calibration.md) for a single person's risk.

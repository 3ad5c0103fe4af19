# %% [markdown]
# # Audit a DP-SGD model
#
# Somebody trained a model with DP-SGD and says: it is (ε, δ)-DP. Can that be tested?
# An audit plays the game that the promise is about: records take part or do not, and
# an attack tells which. Whoever can do that too well has refuted the promise. One
# trained model is enough.

# %%
from dataclasses import replace

import numpy as np
import pandas as pd

import reconbench as rb
from reconbench.mechanisms.training.algorithms import DpSgd, Records

# %% [markdown]
# ## The claim
#
# A small model: logistic regression on about 300 records, 30 steps with 60 records
# each on average. Every gradient is clipped to length 1, and Gaussian noise of
# standard deviation 3 is added to their sum. The accountant turns this into a
# guarantee for adding or removing one record.

# %%
training = DpSgd(
    records=300, noise=3.0, steps=30, batch=60, rate=4.0, momentum=0.0
)
delta = 1e-5
claimed = float(training.guarantee.epsilon_at(delta))
print(f"claimed: ({claimed:.2f}, {delta:g})-DP")

# %% [markdown]
# ## The canaries
#
# The promise is about *every* record, so an audit may bring records that are easy to
# find: *canaries*. Each of ours has a feature that no other record has, and a label
# that is drawn at random. A model that was trained without a canary has never met its
# feature.
#
# There are 400 canaries beside 100 people of the American Community Survey, whose sex
# is predicted from age, marital status and military service.

# %%
CANARIES = 400
rng = np.random.default_rng(0)
people = rb.load_prior("acs").sample(100, rng)
names = ("AGEP", "MAR", "MIL")
plain = np.hstack(
    [np.eye(people.domain[name].size)[people.column(name)] for name in names]
)
own = 2.0 * np.eye(CANARIES)
features = np.block(
    [
        [plain, np.zeros((100, CANARIES))],
        [np.zeros((CANARIES, plain.shape[1])), own],
    ]
)
labels = np.append(people.column("SEX"), rng.integers(2, size=CANARIES))
records = Records.of_vectors(features, labels, classes=2)
print(len(records), "records with", records.features, "features")

# %% [markdown]
# ## One run
#
# A coin decides for every canary whether it takes part. One model is trained on the
# people and the canaries that do. The attack then looks at the loss of the model on
# each canary: a small loss says that the model has seen it. It guesses *in* for the
# 50 smallest losses and *out* for the 50 largest, and does not guess the others.


# %%
def attack(training, seed, guesses=100):
    """How many of the guesses about canaries are right, from one trained model."""
    rng = np.random.default_rng(seed)
    takes_part = rng.random(CANARIES) < 0.5
    chosen = np.flatnonzero(np.append(np.ones(100, bool), takes_part))
    model = training.train(records.take(chosen), 1, rng)
    losses = [
        model.losses(records.take([100 + canary]))[0]
        for canary in range(CANARIES)
    ]
    order = np.argsort(losses)
    seen, unseen = order[: guesses // 2], order[-guesses // 2 :]
    return int(takes_part[seen].sum() + (~takes_part[unseen]).sum())


right = attack(training, seed=1)
print(right, "of 100 guesses are right")

# %% [markdown]
# A coin would be right 50 times. How many right guesses does ε = 1.58 allow? Two
# theorems bound them like a ceiling (Steinke et al. 2023, Mahloujifar et al. 2024).
# Read backwards, they bound ε from below.


# %%
def judge(right):
    """What so many right guesses of 100 say of the claim."""
    return rb.audit(
        "one-run",
        canaries=CANARIES,
        guesses=100,
        right=right,
        epsilon=claimed,
        delta=delta,
    )


print(judge(right).summary())

# %% [markdown]
# The claim stands. That does not prove it: other canaries or a better attack might
# find something. An audit can refute a claim, never confirm it.
#
# ## A mistake
#
# Now a mistake that is easily made. The noisy sum is divided by the batch size, as it
# should be, but the noise was divided already: there is 60 times too little. The code
# runs, the model even learns better, and the accountant prints the same ε. Does the
# audit notice?

# %%
mistaken = replace(training, noise=training.noise / training.batch)
right = attack(mistaken, seed=1)
print(right, "of 100 guesses are right")

# %%
refuted = judge(right)
print(refuted.summary())

# %% alt="An interval for ε that begins above 2.5, to the right of the line at the claimed 1.58"
refuted.plot()

# %% [markdown]
# It does, with the same canaries and the same attack, and without a look into the
# code. A correct implementation is accused wrongly with a probability of at most 1 %
# by each of the two.
#
# ## What an audit can show at most
#
# The interval has no upper end, because a stronger attack is always possible. And its
# lower end is limited by the number of guesses, even if all of them are right:

# %%
most = {
    guesses: rb.audit(
        "one-run",
        canaries=CANARIES,
        guesses=guesses,
        right=guesses,
        delta=delta,
    ).frame["lower"][0]
    for guesses in (10, 30, 100, 300)
}
pd.DataFrame(
    {"guesses, all right": most.keys(), "ε is at least": most.values()}
).round(2)

# %% [markdown]
# So a bound of 3 from 100 guesses does not say that ε is near 3. The mistaken model
# has no useful guarantee at all: for its noise an accountant prints an ε of several
# hundred.
#
# How *large* ε may be is another question, and answers to it need assumptions about
# how strong attacks are. [ε from membership attacks](../mcmc.md) has such a model,
# with its checks.
#
# ## What to remember
#
# - Fix canaries, attack and number of guesses before you look. Trying several and
#   reporting the best one spoils the confidence.
# - *No violation found* is not a proof. The lower bound of an honest audit is often
#   far below the claim.
# - An audit of one run costs one training. It finds mistakes in code that nobody
#   reads.
#
# More: [audits](../audit.md) of local randomisers and from counts; `reconbench audit
# train` with many models and the attack LiRA; [sharp
# edges](../sharp-edges.md#no-violation-found-is-not-a-proof).

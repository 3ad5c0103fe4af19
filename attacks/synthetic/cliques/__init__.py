"""The measured counts, read off the synthetic table: the source behind `cliques`.

Generators such as Private-PGM measure sets of columns, fit a model to the answers, and draw rows
from it. The rows' counts on these sets, scaled to n records, are the true counts with errors: the
noise of the measurement, what the fit made of it, and the luck of drawing rows. Imagined tables
show how large these are. For a hidden column t and the known columns x of a set, with N(x) the
known counts and P the prior,

    d(x, t) = count(x, t) − count(x) P(t | x)

is what a table says of the set beyond its known columns. Over the imagined tables the d of the
scaled synthetic counts is regressed on the true one, d_synthetic = β d_true + error, which makes
N(x) P(t | x) + d_synthetic/β a measurement of the true count. The error variance is a + b N(x) P(t
| x): a constant for the noise, and a part for drawn rows.

A fitted model is one distribution, so all its sets err in the same way in how often t occurs.
Either cells are read one by one; or the total of each t is read once, and of each set only how it
is spread over x. In both ways errors that are left depend on each other, so their variances are
inflated by a common factor. The way and the factor with which the imagined tables are guessed best
are taken. The posterior of the hidden column is sampled (``cell_chain``); it is one more source of
evidence, and its weight is learnt like that of a learner.

Measured sets are public where the mechanism says which they are (``sets``). Where they were chosen
by looking at the table, all pairs with the hidden column stand in for them: those that are rarely
measured come out with little slope and large errors. Hidden columns are read one by one; other
hidden columns are summed out of a set.
"""

from reconbench.attacks.synthetic.cliques.source import CliqueSource

__all__ = ["CliqueSource"]

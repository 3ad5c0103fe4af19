"""What is trained on a synthetic table to answer for hidden columns.

``base`` says what a learner is; ``classifiers`` are scikit-learn's, ``network`` is a Bayesian
network.
"""

from reconbench.attacks.synthetic.learners.base import Fitted, Learner, fit_learner, fit_released
from reconbench.attacks.synthetic.learners.classifiers import (
    GradientBoosting,
    NaiveBayes,
    NearestNeighbours,
    RandomForest,
)
from reconbench.attacks.synthetic.learners.network import BayesNet

__all__ = [
    "BayesNet",
    "Fitted",
    "GradientBoosting",
    "Learner",
    "NaiveBayes",
    "NearestNeighbours",
    "RandomForest",
    "fit_learner",
    "fit_released",
]

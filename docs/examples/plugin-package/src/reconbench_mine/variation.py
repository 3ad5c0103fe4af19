"""No attack gains more than the total variation on a target."""

import numpy as np

from reconbench.bounds import CONFIDENCES, Bound, Kind, NotApplicable, Relation, Scope


class Variation(Bound):
    """The best prior success of each target plus the total variation, summed over targets."""

    name = "variation"
    reference = "definition of total variation"
    statement = "Any f-DP, any metric: the best prior success plus the total variation."
    kind = Kind.MEAN
    scope = Scope.ANY_ATTACK
    proved = True

    @classmethod
    def ceilings(cls, targets, guarantee, confidences=CONFIDENCES):
        if guarantee.relation is not Relation.REPLACE_ONE:
            raise NotApplicable("it holds for replace-one neighbours only")
        success = targets.best_prior_success + guarantee.total_variation()
        return {"mean": float(np.minimum(success, 1.0).sum())}

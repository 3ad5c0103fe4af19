"""People by age group, sex and income."""

import numpy as np

from reconbench.datasets import Attribute, BayNet, Domain


def people() -> BayNet:
    """Incomes that depend on age and sex."""
    domain = Domain(
        (
            Attribute("age", ("young", "middle", "old"), ordinal=True),
            Attribute("sex", ("female", "male")),
            Attribute("income", ("low", "middle", "high"), ordinal=True),
        )
    )
    age = np.array([0.3, 0.4, 0.3])
    sex = np.array([0.5, 0.5])
    # P(income | age, sex): one axis per parent, then the column itself.
    high = np.array([[0.1, 0.2], [0.4, 0.5], [0.3, 0.4]])
    income = np.stack([0.7 * (1 - high), 0.3 * (1 - high), high], axis=-1)
    return BayNet(domain, ((), (), (0, 1)), (age, sex, income), visit_order=domain.names)


people.card = {"title": "People, made up", "source": "this page", "licence": "CC0", "columns": 3}

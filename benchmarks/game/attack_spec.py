"""An attack as a suite or a caller names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from reconbench.attacks import Attack
from reconbench.benchmarks import plugins
from reconbench.benchmarks.player.foreign_attack import ForeignAttack


@dataclass(frozen=True)
class AttackSpec:
    """An attack by name or file, with its options.

    Args:
        spec: A name (see `reconbench list attack`) or ``file.py:Class``.
        options: Keyword arguments of the attack.

    Example:
        >>> import reconbench as rb
        >>> rb.AttackSpec("rap", {"steps": 100}).build().name
        'rap'
    """

    spec: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> Attack:
        """Build the attack; one that is not of this package, in a player process.

        Raises a ValueError if that fails, whatever the attack did.
        """
        if plugins.is_foreign("attack", self.spec):
            return cast(Attack, ForeignAttack(self.spec, self.options))
        return plugins.construct_attack(self.spec, self.options)

"""An attack as a suite or a caller names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reconbench.attacks import Attack, AttackError
from reconbench.benchmarks import plugins
from reconbench.benchmarks.errors import describe_error


@dataclass(frozen=True)
class AttackSpec:
    """An attack by name or file, with its options."""

    spec: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> Attack:
        """Build the attack. Raises a ValueError if that fails, whatever the plugin raised."""
        try:
            return plugins.build_attack(self.spec, self.options)
        except ValueError:
            raise
        except Exception as error:
            raise AttackError(
                f"attack {self.spec!r} cannot be built: {describe_error(error)}"
            ) from error

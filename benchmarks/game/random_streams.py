"""Random streams named by what they are for.

A stream's seed is a hash of its purpose and of the axes that define it. Every attack therefore
meets the same table and the same noise, and a result does not depend on which worker computed it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np


def make_stream(purpose: str, axes: Mapping[str, object]) -> np.random.Generator:
    """Make the random generator for a purpose under the given axes."""
    text = json.dumps([purpose, dict(axes)], sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))

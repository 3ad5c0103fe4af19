"""Find, build and check plugins of every kind."""

from reconbench.benchmarks.plugins.registry import (
    CALIBRATION,
    KINDS,
    PluginError,
    absolute,
    attack,
    calibrated,
    check_options,
    identity,
    load,
    mechanism,
    own_file,
    prior,
    registered,
    short,
    stand_in,
    summary,
)

__all__ = [
    "CALIBRATION",
    "KINDS",
    "PluginError",
    "absolute",
    "attack",
    "calibrated",
    "check_options",
    "identity",
    "load",
    "mechanism",
    "own_file",
    "prior",
    "registered",
    "short",
    "stand_in",
    "summary",
]

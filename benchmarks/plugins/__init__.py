"""Find, build and check plugins of every kind."""

from reconbench.benchmarks.plugins.registry import (
    CALIBRATION,
    KINDS,
    PluginError,
    build_attack,
    build_mechanism,
    check_options,
    describe_entry,
    get_entries,
    get_file,
    identify_spec,
    load_from_file,
    load_mechanism,
    load_prior,
    make_absolute,
    shorten_spec,
    use_copies,
)

__all__ = [
    "CALIBRATION",
    "KINDS",
    "PluginError",
    "build_attack",
    "build_mechanism",
    "check_options",
    "describe_entry",
    "get_entries",
    "get_file",
    "identify_spec",
    "load_from_file",
    "load_mechanism",
    "load_prior",
    "make_absolute",
    "shorten_spec",
    "use_copies",
]

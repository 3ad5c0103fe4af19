"""Plugins of five kinds: attacks, mechanisms, data sets, bounds and metrics.

Read ``registry`` first: the kinds, and where their entries are found. ``specs`` reads what a user
writes (a name, or ``file.py:Class``), ``in_memory`` holds objects of a caller, ``build`` makes
objects of all these. ``cards`` describes data sets, ``checks`` and ``check_<kind>`` are the
conformance kits, and ``templates`` what `reconbench new` writes.
"""

from reconbench.benchmarks.plugins.build import (
    CALIBRATION,
    build_mechanism,
    build_metric,
    check_options,
    construct_attack,
    drop_default_options,
    get_options,
    load_mechanism,
    load_prior,
    read_facts,
    release_table,
    sample_table,
)
from reconbench.benchmarks.plugins.cards import list_cards, read_card
from reconbench.benchmarks.plugins.registry import (
    KINDS,
    Kind,
    check_known,
    describe_entry,
    find_kind,
    get_entries,
    is_foreign,
    list_dataset_names,
    load_entry,
)
from reconbench.benchmarks.plugins.specs import (
    PluginError,
    describe_error,
    get_file,
    identify_spec,
    load_from_file,
    make_absolute,
    move_file,
    shorten_spec,
    split_file,
    use_copies,
)

__all__ = [
    "CALIBRATION",
    "KINDS",
    "Kind",
    "PluginError",
    "build_mechanism",
    "build_metric",
    "check_known",
    "check_options",
    "construct_attack",
    "describe_entry",
    "describe_error",
    "drop_default_options",
    "find_kind",
    "get_entries",
    "get_file",
    "get_options",
    "identify_spec",
    "is_foreign",
    "list_cards",
    "list_dataset_names",
    "load_entry",
    "load_from_file",
    "load_mechanism",
    "load_prior",
    "make_absolute",
    "move_file",
    "read_card",
    "read_facts",
    "release_table",
    "sample_table",
    "shorten_spec",
    "split_file",
    "use_copies",
]

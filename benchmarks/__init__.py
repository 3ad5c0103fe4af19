"""The game, suites of games, the runner and the result store."""

if __name__ != "reconbench.benchmarks":
    raise ImportError("import this package as reconbench.benchmarks, not as benchmarks")

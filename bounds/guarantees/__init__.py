"""Privacy guarantees as trade-off curves."""

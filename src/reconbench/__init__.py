"""reconbench."""

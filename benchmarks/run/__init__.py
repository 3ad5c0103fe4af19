"""Playing many games: the runner, its worker processes and the cluster."""

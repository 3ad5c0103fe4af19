"""What the terminal shows: ``tables``, and ``result_tables`` of games and suites."""

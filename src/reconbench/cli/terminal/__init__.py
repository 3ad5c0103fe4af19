"""What the terminal shows: ``tables``, ``progress``, ``result_tables`` of games and suites."""

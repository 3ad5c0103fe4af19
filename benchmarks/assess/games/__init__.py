"""The games of an assessment.

- ``real_games``: attacks on releases of the owner's own table
- ``tasks``: all games of a question, played here or by worker processes
- ``saved_games``: those that were played before
"""

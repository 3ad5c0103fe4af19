"""`play` and `run`: games in one call, and suites.

- ``play``, ``run``: the two calls; ``playing``: in which process, with or without a store
- ``axes``, ``handover``: settings, and objects as plugins, in the forms that people have them
- ``results``: what both calls return
- ``suite_runs``, ``suite_reports``: a suite in a folder, as the commands play it as well
"""

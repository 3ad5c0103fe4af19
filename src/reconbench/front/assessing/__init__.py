"""`assess`: what a release of one's own table would reveal.

- ``assess``: the call; ``result``: what it returns
- ``sources``, ``planned``, ``report_files``: tables, priors, games and files, as the command has
  them as well
"""

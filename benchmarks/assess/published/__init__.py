"""Assessments of releases that are out already: nobody here can run what made them again.

- ``release``: one release, with the table behind it; start here
- ``picked``: the best of several attacks, where none is known to be the best
- ``rows``: what can be said of a synthetic table without the table behind it
"""

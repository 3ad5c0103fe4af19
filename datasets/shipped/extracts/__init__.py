"""Readers of the raw files behind the shipped priors: one file a table, each gives a Table.

Only ``fit_priors`` needs them, together with the raw files, which are not part of the package.
"""

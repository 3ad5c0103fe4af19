"""What `reconbench assess` does, by what there is to assess.

- ``planned``: a release of one's own table that is still planned
- ``published_marginals``, ``published_table``: one that is out
- ``inputs``: options that all have in common, tables and priors; ``outputs``: the report's files
"""

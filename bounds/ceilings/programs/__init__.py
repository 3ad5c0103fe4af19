"""Linear programs and the recursion behind the ceilings.

- `level_program`: over the law of the number of targets recovered.
- `set_programs`: the weights of the prior-exact bound for success sets.
- `recursion`: over counts, shared by the ceilings that bound each target by lines.
"""

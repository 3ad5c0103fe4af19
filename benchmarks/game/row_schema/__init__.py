"""What the fields of a result row may be.

- ``checks``: the range of every field, and relations between fields
- ``agreement``: when two rows of one game agree
"""

"""Games in which others took part: what an attack owes to the record that it attacks.

- ``advantage``: the same records attacked when others took their place (RAD)
- ``memorisation``: other records attacked with the same release
"""

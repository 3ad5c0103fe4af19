"""The joint values that exact marginals leave possible, and the tables made of them.

- ``solution``: all tables that fit a release, certified; read this first
- ``listing``: joint values of the hidden columns that touch no empty cell, by known row
- ``cells``: released cells laid end to end
- ``kernels``: the compiled search
"""

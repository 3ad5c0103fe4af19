"""The Python front: what ``reconbench`` offers under its own name, thin over the rooms.

- ``games``: `play` and `run`; ``assessing``: `assess`
- ``priors``: `load_prior` and `fit`
- ``bounds``, ``audits``: `ceiling`, `risk`, `calibrate` and `audit`; ``answers``: what they return
- ``arguments``: arguments in the forms that people try, and one wording for their errors
- ``figure``, ``frames``, ``notebook``, ``progress``: how results and progress are shown

The command line uses what it needs of these, and never the other way round.
"""

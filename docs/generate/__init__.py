"""Scripts that make pages and figures of the documentation; run as ``python docs/generate NAME``.

- Results page: ``results_data`` (stores to CSV), ``results_statistics``, ``results_page``.
- Reproduction page: ``reproduction``, ``reproduction_games`` (a store to CSV), ``errata``.
- Figures: ``figures`` draws all, with ``gradient_figures`` and ``audit_ldp``.
- ``leaderboard_charts`` makes the drawings that ship with the leaderboard, and
  ``leaderboard_picture`` the picture of its first screen.
- ``tables`` writes the tables that follow from declarations into their pages.
- ``stopping_sweep`` prints the table of docs/rap.md.
- ``site_build`` is what mkdocs calls: the reference, and the notebooks.
- ``rendering`` fills in ``templates/``, which hold the words of the pages.
"""

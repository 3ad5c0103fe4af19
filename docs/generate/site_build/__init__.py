"""What mkdocs calls while it builds the site: pages that follow from code, and executed notebooks.

- ``hooks``: the events of mkdocs; start here
- ``api_reference``, ``cli_reference``: the pages of the reference
- ``docstrings``: how griffe reads docstrings of this package
- ``notebooks``: runs the scripts of docs/notebooks; ``notebook_page``: what becomes of one
- ``offline``: nothing of a page may come from another host
"""

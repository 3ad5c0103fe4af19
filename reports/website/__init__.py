"""A static site of many results: suites, attacks, data sets, versions and verified entries.

- ``content``: what a site is made of
- ``code_versions``: the rows of each code version, and how an attack's standing changed
- ``commands``: the command lines that give a number again
- ``prepared``: standings, cells and links, worked out once for all pages
- ``pages``: the pages, from templates in which every value stays text
- ``folder``: write all of it, or nothing
"""

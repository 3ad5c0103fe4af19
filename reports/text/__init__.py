"""What all reports share.

- ``document``: a Markdown template as a Markdown report and as a page
- ``templates``: templates in which every value is escaped
- ``number_format``: numbers, names and lists as text
"""

"""The report of an assessment: page, Markdown and summary (``report``)."""

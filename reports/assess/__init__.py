"""The report of an assessment."""

"""Compare two result stores: the statistics (``compare``) and the report (``report``)."""

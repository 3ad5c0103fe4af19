"""Numbers, documents and templates that all reports share."""

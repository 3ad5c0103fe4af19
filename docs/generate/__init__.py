"""Scripts that make pages and figures of the documentation."""

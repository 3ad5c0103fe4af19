"""The games that audits play: local reports, and trained models."""

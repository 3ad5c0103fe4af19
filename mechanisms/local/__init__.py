"""Local reports: every record randomises its own values."""

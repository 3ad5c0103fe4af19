"""`reconbench data fetch`: public sources, by what they hold."""

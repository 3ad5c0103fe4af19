"""Commands for results that other people see: entries to send and verify, and the site."""

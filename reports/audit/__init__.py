"""The report of an audit by MCMC: page, Markdown and summary (``mcmc``)."""

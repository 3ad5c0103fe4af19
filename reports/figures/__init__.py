"""Figures for the page and for papers."""

"""Trained models as releases."""

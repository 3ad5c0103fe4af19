"""Plugins for reconbench, one of each kind: a template to start from."""

"""Relaxed adaptive projection: the attack, its variants and the descent that they share."""

"""Reduce between two groups."""

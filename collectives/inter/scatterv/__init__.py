"""Scatterv between two groups."""

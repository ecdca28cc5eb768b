"""Scatter between two groups."""

"""Reduce_scatter between two groups."""

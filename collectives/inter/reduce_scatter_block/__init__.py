"""Reduce_scatter_block between two groups."""

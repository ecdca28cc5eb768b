"""Barrier between two groups."""

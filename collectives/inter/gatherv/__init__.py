"""Gatherv between two groups."""

"""Gather between two groups."""

"""Allreduce between two groups."""

"""Alltoall between two groups."""

"""Alltoallv between two groups."""

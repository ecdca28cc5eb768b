"""Alltoallw between two groups."""

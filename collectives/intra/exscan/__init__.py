"""Everybody but rank 0 ends with the combination of what the ranks before it have."""

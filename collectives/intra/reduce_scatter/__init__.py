"""Everybody ends with its block of the combination of what all have; blocks of their own sizes."""

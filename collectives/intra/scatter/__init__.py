"""Scatter with blocks of equal size: every rank receives its block of the root's buffer."""

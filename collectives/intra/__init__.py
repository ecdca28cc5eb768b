"""Algorithms within one group: one folder per operation, one file per algorithm."""

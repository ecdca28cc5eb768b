"""Algorithms within one group: one subpackage per operation, one module per algorithm."""

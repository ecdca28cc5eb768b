"""Reduce_scatter_block between groups: every rank receives its block of the other group's result; blocks of equal size."""

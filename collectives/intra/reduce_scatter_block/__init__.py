"""Reduce_scatter_block: every rank receives its block of the result; blocks of equal size."""

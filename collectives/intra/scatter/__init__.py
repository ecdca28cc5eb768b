"""Everybody ends with its block of the root's buffer; blocks of equal size."""

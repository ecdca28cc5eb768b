"""Everybody ends with its block of the root's buffer; each rank's block of its own size."""

"""Everybody ends with the blocks of all, in rank order; each rank's block of its own size."""

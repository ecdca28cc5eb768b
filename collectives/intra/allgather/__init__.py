"""Everybody ends with the blocks of all, in rank order."""

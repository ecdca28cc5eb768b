"""Gather with blocks of equal size: the root receives the blocks of all ranks, in rank order."""

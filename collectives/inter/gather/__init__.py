"""Gather between groups: the root receives the blocks of the other group's ranks, in rank order; blocks of equal size."""

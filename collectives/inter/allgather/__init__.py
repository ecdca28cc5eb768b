"""Everybody ends with the blocks of all ranks of the other group, in rank order; the blocks of a group of one size."""

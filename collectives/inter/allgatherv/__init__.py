"""Everybody ends with the blocks of all ranks of the other group, in rank order; each block of its own size."""

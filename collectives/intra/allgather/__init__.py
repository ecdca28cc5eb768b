"""Allgather with blocks of equal size: every rank receives the blocks of all ranks, in rank order."""

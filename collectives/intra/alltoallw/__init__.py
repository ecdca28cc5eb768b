"""Alltoallw: every rank receives a block from every rank; each block is a buffer with its own size and datatype."""

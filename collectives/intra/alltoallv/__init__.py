"""Alltoallv: every rank receives a block from every rank; block sizes may differ."""

"""Allgatherv: every rank receives the blocks of all ranks, in rank order; block sizes may differ."""

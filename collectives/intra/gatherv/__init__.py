"""Gatherv: the root receives the blocks of all ranks, in rank order; block sizes may differ."""

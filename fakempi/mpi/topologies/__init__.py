"""Topologies: who stands where and who is whose neighbour (`topology`), and exchanges along the edges (`neighbors`)."""

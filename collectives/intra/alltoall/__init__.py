"""Alltoall with blocks of equal size: rank r receives block r of every rank s, as its block s."""

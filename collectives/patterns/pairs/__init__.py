"""Exchanges between all pairs of ranks: shared code of the alltoalls.

Blocks are functions of the other rank, so that arrays, displacements and mpi4py's [buffer, type] lists share one
implementation. A rank's block for itself is not sent.

rounds     exchanges with one rank after the other, and their schedules
at_once    exchanges with several ranks at once
families   declares alltoalls that use these exchanges
blocks     the blocks of a rank, its block for itself, and copies of blocks that are exchanged in place
"""

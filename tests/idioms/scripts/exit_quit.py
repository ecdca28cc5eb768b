"""`quit` of the interactive interpreter, after part of a line."""
# ranks: 1

from mpi4py import MPI

MPI.COMM_WORLD.Barrier()
print("x", end="")
quit(6)

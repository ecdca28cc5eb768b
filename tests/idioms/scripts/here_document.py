# command: -
# ranks: 1
from mpi4py import MPI

print(__name__, MPI.COMM_WORLD.size)

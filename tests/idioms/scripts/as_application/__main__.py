"""A directory, or a zip file, as a program."""

from helper import rank
from mpi4py import MPI

print(__name__, rank, MPI.COMM_WORLD.allreduce(rank))

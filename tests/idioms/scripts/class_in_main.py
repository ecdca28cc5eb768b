"""Instances of a class of the script travel as pickles."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

class Particle:
    def __init__(self, mass):
        self.mass = mass


received = comm.sendrecv(Particle(rank), dest=(rank + 1) % size, source=(rank - 1) % size)
print(rank, isinstance(received, Particle), received.mass, Particle.__module__)

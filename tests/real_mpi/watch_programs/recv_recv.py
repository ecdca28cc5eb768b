"""Both ranks receive first."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
peer = 1 - comm.rank
data = comm.recv(source=peer, tag=7)
comm.send(data, dest=peer, tag=7)

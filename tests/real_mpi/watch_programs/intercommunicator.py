"""Two groups: each receives from the other first."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
half = comm.Split(comm.rank % 2)
inter = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
inter.recv(source=half.rank, tag=2)

"""Each rank has a default time limit for sockets."""

import socket

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

socket.setdefaulttimeout(rank + 1.0)
comm.Barrier()
print(rank, socket.getdefaulttimeout())

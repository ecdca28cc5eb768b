"""Nonblocking calls in a list, completed together."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

buffers = [np.empty(1) for _ in range(size)]
requests = [comm.Irecv(buffers[i], i) for i in range(size)]
requests += [comm.Isend(np.array([float(rank)]), i) for i in range(size)]
MPI.Request.Waitall(requests)
print(rank, [float(each[0]) for each in buffers])

"""Elapsed time by several clocks."""

import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

starts = time.time(), time.perf_counter(), MPI.Wtime()
comm.Barrier()
ends = time.time(), time.perf_counter(), MPI.Wtime()
slowest = comm.reduce(max(end - start for start, end in zip(starts, ends)), op=MPI.MAX)
if rank == 0:
    print(all(end >= start for start, end in zip(starts, ends)), slowest >= 0)

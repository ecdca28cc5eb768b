"""Bytes that are not text arrive unchanged."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    sys.stdout.buffer.write(bytes([0xFF, 0xFE, 0x80, 65, 10]))
    sys.stdout.buffer.flush()

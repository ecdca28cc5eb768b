"""One rank exits with an error after the last call."""
# ranks: 2

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

comm.Barrier()
MPI.Finalize()
sys.exit(9 if rank == 1 else 0)

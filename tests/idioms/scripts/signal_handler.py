"""A handler that a rank installs and triggers in its own process."""
# ranks: 2

import os
import signal

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(rank))
comm.Barrier()
os.kill(os.getpid(), signal.SIGUSR1)
comm.Barrier()
print(rank, seen == [rank])
signal.signal(signal.SIGUSR1, signal.SIG_DFL)

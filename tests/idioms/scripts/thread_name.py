"""The main thread is named after the rank."""

import threading

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

threading.current_thread().name = f"rank-{rank}"
comm.Barrier()
print(threading.current_thread().name, threading.main_thread().name)

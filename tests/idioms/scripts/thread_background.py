"""A daemon thread that logs until the rank ends."""

import threading
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

stop, beats = threading.Event(), []


def beat():
    while not stop.wait(0.01):
        beats.append(rank)


thread = threading.Thread(target=beat, daemon=True)
thread.start()
time.sleep(0.05)
comm.Barrier()
stop.set()
thread.join()
print(rank, set(beats) <= {rank})

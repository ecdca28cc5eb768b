"""A thread waits for a message and holds the lock that the main thread waits for."""

import threading

from mpi4py import MPI

comm = MPI.COMM_WORLD
lock = threading.Lock()
taken = threading.Event()


def receive():
    with lock:
        taken.set()
        comm.recv(source=1, tag=5)


if comm.rank == 0:
    threading.Thread(target=receive, name="receiver", daemon=True).start()
    taken.wait()
    lock.acquire()
comm.Barrier()

"""multiprocessing.connection between ranks."""

from multiprocessing.connection import Listener, Client
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    with Listener(("127.0.0.1", 0), authkey=b"k") as listener:
        comm.bcast(listener.address)
        for _ in range(comm.size - 1):
            with listener.accept() as c:
                c.send(c.recv() * 2)
else:
    with Client(comm.bcast(None), authkey=b"k") as c:
        c.send([comm.rank])
        print(c.recv())

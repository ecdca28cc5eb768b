"""One rank polls for a message that arrives late; the sender computes with numpy."""

import sys
import time

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
end = time.monotonic() + float(sys.argv[1])
if comm.rank == 0:
    while not comm.Iprobe(source=1, tag=1):
        pass
    comm.recv(source=1, tag=1)
elif comm.rank == 1:
    matrix = np.ones((200, 200))
    while time.monotonic() < end:
        matrix = matrix @ matrix / 200
    comm.send(1, dest=0, tag=1)
comm.Barrier()

"""mpilock gives one rank after the other access to a file."""

import mpilock
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    with open("counter", "w") as file:
        file.write("0")
comm.Barrier()
controller = mpilock.sync(comm)
for _ in range(5):
    with controller.write():
        with open("counter") as file:
            value = int(file.read())
        with open("counter", "w") as file:
            file.write(str(value + 1))
comm.Barrier()
with controller.read(), open("counter") as file:
    print(f"{comm.rank}: {file.read()}\n", end="", flush=True)
comm.Barrier()
controller.close()

"""One rank stores an object of a class of the script, the other one loads it."""

import os
import pickle
import tempfile

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

class Model:
    weight = 0


name = comm.bcast(os.path.join(tempfile.gettempdir(), f"idiom-{os.getpid()}.pickle") if rank == 0 else None)
if rank == 0:
    model = Model()
    model.weight = 3
    with open(name, "wb") as file:
        pickle.dump(model, file)
comm.Barrier()
with open(name, "rb") as file:
    print(rank, pickle.load(file).weight)
comm.Barrier()
if rank == 0:
    os.remove(name)

"""NuMPI: reductions of distributed arrays, and an array in one file."""

import os
import tempfile

import numpy as np
from mpi4py import MPI
from NuMPI.IO import load_npy, save_npy
from NuMPI.Tools import Reduction

comm = MPI.COMM_WORLD
reduction = Reduction(comm)
values = np.arange(5.0) + comm.rank
directory = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
path = os.path.join(directory, "values.npy")
save_npy(path, values, (comm.rank * 5,), (comm.size * 5,), comm)
back = load_npy(path, (comm.rank * 5,), (5,), comm)
found = reduction.sum(values), reduction.max(values), reduction.mean(values), comm.allreduce(np.array_equal(back, values))
if comm.rank == 0:
    print(*(float(value) for value in found))

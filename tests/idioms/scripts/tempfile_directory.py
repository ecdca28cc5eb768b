"""Each rank has a directory for temporary files."""

import os
import tempfile

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

with tempfile.TemporaryDirectory() as top:
    tempfile.tempdir = top
    comm.Barrier()
    with tempfile.NamedTemporaryFile() as file:
        print(rank, os.path.dirname(file.name) == top)
    comm.Barrier()

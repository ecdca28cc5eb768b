"""Buffers of subclasses of numpy's array"""
# ranks: 2
import os
import tempfile

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
handle, path = tempfile.mkstemp()
os.close(handle)
records = np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])
for buffer in (
    np.matrix(np.zeros((2, 2))),
    np.memmap(path, "d", "w+", shape=(2, 2)),
    np.ma.masked_array(np.zeros((2, 2))),
):
    name = type(buffer).__name__
    if comm.rank == 0:
        np.copyto(buffer, np.array([[1.0, 2.0], [3.0, 4.0]]))
        comm.Send(buffer, 1)
    else:
        comm.Recv(buffer, 0)
        print(name, buffer.tolist())
    buffer += comm.rank
    comm.Bcast(buffer, 1)
    print(comm.rank, name, buffer.tolist(), comm.allreduce(np.float64(comm.rank)))
print(comm.rank, comm.bcast(records).tolist(), np.int32(3) + comm.bcast(np.int32(4)))
os.unlink(path)

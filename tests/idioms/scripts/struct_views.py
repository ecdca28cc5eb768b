import array
import ctypes
import struct
from mpi4py import MPI

comm = MPI.COMM_WORLD
a = array.array("d", [comm.rank] * 3)
comm.Bcast(a, root=1)
b = bytearray(8)
comm.Allreduce(struct.pack("q", comm.rank), [b, MPI.INT64_T]) if False else comm.Bcast(b)
c = (ctypes.c_int * 2)(comm.rank, 5)
comm.Allreduce(MPI.IN_PLACE, [c, MPI.INT], MPI.MAX)
print(comm.rank, a.tolist(), list(c), memoryview(a).format, bytes(b) == bytes(8))
# when: full

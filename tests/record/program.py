"""The program that test_recorder.py records on three ranks of a real MPI."""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size
a, b = np.zeros(10), np.zeros(10)
assert not {"greenlet", "rich", "fakempi.core", "fakempi.mpi"} & sys.modules.keys()  # ranks need mpi4py only

comm.Sendrecv(a, right, 3, b, left, 3)
requests = [comm.Irecv(b, MPI.ANY_SOURCE, MPI.ANY_TAG), comm.Isend([a, 4, MPI.DOUBLE], dest=right, tag=5)]
MPI.Request.Waitall(requests)
MPI.Request.Waitall(requests)  # null requests
comm.send("text", dest=right, tag=6)
assert comm.recv(source=left) == "text"
assert MPI.Request.waitall([comm.isend(rank, right), comm.irecv(source=left)])[1] == left
persistent = [comm.Send_init(a, right, 8), comm.Recv_init(b, left, 8)]
for _ in range(2):
    MPI.Prequest.Startall(persistent)
    MPI.Request.Waitall(persistent)
for each in persistent:
    each.Free()
comm.Allreduce(MPI.IN_PLACE, [b, MPI.DOUBLE], op=MPI.MAX)
assert comm.allgather("x" * rank) == ["", "x", "xx"]
part = comm.Split(0 if rank < 2 else MPI.UNDEFINED, key=-rank)
if part != MPI.COMM_NULL:
    part.Bcast(a, root=1)
    part.Free()
group = comm.group.Incl([0, 2])
some = comm.Create_group(group) if rank != 1 else MPI.COMM_NULL
counts = [1, 2, 3]
comm.Allgatherv(np.zeros(rank + 1), [np.zeros(6), counts, MPI.DOUBLE])
comm.Gatherv(np.zeros(rank + 1), (np.zeros(6), counts) if rank == 2 else None, root=2)
comm.Reduce(a, b if rank == 0 else None, op=MPI.Op.Create(lambda x, y, t: None, commute=False), root=0)
request = comm.Iallreduce(a, b)
while not request.Test():
    pass
if rank == 0:
    message = comm.mprobe(source=1, tag=9)
    message.recv()
    comm.Recv(b, MPI.PROC_NULL)
elif rank == 1:
    comm.ssend(b"12345", 0, 9)
window = MPI.Win.Allocate(8, comm=comm)
window.Fence()
window.Free()
comm.Barrier()
sys.exit(3 if rank == 1 else 0)

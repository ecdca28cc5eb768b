"""A counter of tasks in a window, and a hash table that is distributed over the ranks."""

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

window = MPI.Win.Allocate(8 if rank == 0 else 0, 8, comm=comm)
if rank == 0:
    np.frombuffer(window, "q")[:] = 0
comm.Barrier()
one, found, mine = np.ones(1, "q"), np.zeros(1, "q"), []
while True:
    window.Lock(0)
    window.Fetch_and_op(one, found, 0, op=MPI.SUM)
    window.Unlock(0)
    if found[0] >= 10:
        break
    mine.append(int(found[0]))
print(sorted(task for tasks in comm.allgather(mine) for task in tasks))

table = MPI.Win.Create(np.full(4, -1, "q"), 8, comm=comm)
for key in range(rank * 4, rank * 4 + 4):
    old = np.zeros(1, "q")
    table.Lock(key % size)
    table.Compare_and_swap(np.array([key], "q"), np.array([-1], "q"), old, key % size, key // size)
    table.Unlock(key % size)
comm.Barrier()
table.Lock(rank)
print(rank, np.frombuffer(table, "q"), np.frombuffer(table.tomemory(), "q")[0])
table.Unlock(rank)
window.Free()
table.Free()

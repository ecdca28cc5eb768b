"""Correct programs that look similar to mistakes, in the idioms of published packages; see collective_programs.py."""

from __future__ import annotations

SILENT = {
    "both branches": """
if rank == 0:
    comm.bcast([1])
elif rank == 1:
    x = comm.bcast(None)
else:
    y = comm.bcast(None)
""",
    "two conditions that complement each other": """
if rank == 0:
    comm.bcast([1])
print("between")
if rank > 0:
    comm.bcast(None)
""",
    "abort": """
import os
if rank == 0 and not os.path.exists("input"):
    print("no input")
    comm.Abort(1)
comm.barrier()
""",
    "synchronized decision": """
stop = rank == 0 and time.time() > 5
stop = comm.bcast(stop)
while not stop:
    stop = comm.allreduce(rank, MPI.MAX) > 1
if stop:
    comm.barrier()
""",
    "buffer of a broadcast": """
n = np.zeros(1, "i")
if rank == 0:
    n[0] = 3
comm.Bcast(n, root=0)
for i in range(n[0]):
    comm.barrier()
""",
    "size and arguments": """
import sys
if size > 1 and len(sys.argv) > 1:
    comm.barrier()
""",
    "ranks of a node": """
node = comm.Split_type(MPI.COMM_TYPE_SHARED)
leaders = comm.Split(0 if node.rank == 0 else MPI.UNDEFINED, rank)
if node.rank == 0:
    leaders.barrier()
node.barrier()
""",
    "a group of ranks": """
group = comm.Get_group().Incl([0, 1])
if rank < 2:
    part = comm.Create_group(group)
    part.barrier()
other = comm.Create(group)
if other != MPI.COMM_NULL:
    other.barrier()
""",
    "the ranks' own communicator": """
if rank == 0:
    MPI.COMM_SELF.barrier()
    x = MPI.COMM_SELF.allreduce(3)
""",
    "blocks of equal length": """
n = 4
for i in range(rank * n, (rank + 1) * n):
    comm.allreduce(i)
""",
    "optional parallel run": """
def work(comm=None):
    rank = comm.rank if comm is not None else 0
    value = 3 if rank == 0 else None
    if comm is not None:
        value = comm.bcast(value)
    if value > 2 and comm is not None:
        comm.barrier()

work()
work(comm)
""",
    "manager and workers": """
def manager(comm):
    for task in range(3):
        comm.bcast(task)
        comm.gather(None)
    comm.bcast(None)

def worker(comm):
    while True:
        task = comm.bcast(None)
        if task is None:
            break
        comm.gather(task * 2)

if rank == 0:
    manager(comm)
else:
    worker(comm)
""",
    "a pool of an unknown module": """
from somewhere import Pool
pool = Pool(comm)
if rank == 0:
    comm.bcast("work")
    print(pool.map(abs, [1]))
else:
    pool.wait()
""",
    "an even rank sends first": """
other = rank ^ 1
if rank % 2 == 0:
    comm.ssend(1, dest=other)
    comm.recv(source=other)
else:
    comm.recv(source=other)
    comm.ssend(1, dest=other)
""",
    "a token that the root starts": """
if rank == 0:
    comm.send("token", dest=1)
comm.recv(source=(rank - 1) % size)
if rank > 0:
    comm.send("token", dest=(rank + 1) % size)
""",
    "a token in rounds": """
if rank == 0:
    comm.isend("token", dest=1).wait()
for turn in range(3):
    token = comm.recv(source=(rank - 1) % size)
    comm.send(token, dest=(rank + 1) % size)
""",
    "a chain without a cycle": """
if rank < size - 1:
    comm.ssend(1, dest=rank + 1)
if rank > 0:
    comm.recv(source=rank - 1)
""",
    "requests in an object": """
class Exchange:
    def post(self, x):
        self.request = comm.Irecv(x)
        return comm.Isend(x, dest=rank)

    def wait(self):
        self.request.Wait()

pending = {}
pending[3] = comm.ibarrier() if hasattr(comm, "ibarrier") else comm.Ibarrier()
def later():
    pending[3].wait()
""",
    "parts of a buffer": """
x = np.zeros((2, 3))
request = comm.Irecv(x[0], source=MPI.ANY_SOURCE)
x[1] = 3
n = x.shape[0]
comm.Send(x[1], dest=rank)
request.Wait()
print(x)
""",
    "a list with a datatype": """
x, counts = np.zeros(4), [2, 2]
comm.Bcast([x, MPI.DOUBLE])
comm.Gatherv(x, [x, counts, None, MPI.DOUBLE])
comm.Allreduce(MPI.IN_PLACE, x)
""",
    "a send that any tag matches": """
if rank == 0:
    comm.Send(np.zeros(1), dest=1, tag=4)
    comm.send(3, dest=1, tag=5)
elif rank == 1:
    x = np.zeros(1)
    comm.Recv(x, source=0)
    comm.recv(source=0)
""",
    "an exception that all ranks raise": """
try:
    import cupy
    cupy.array([1])
    comm.barrier()
except ImportError:
    pass
try:
    x = int("3")
    comm.barrier()
except ValueError:
    comm.Abort()
""",
    "the rank of a matrix": """
def f(matrix):
    if matrix.rank == 3:
        comm.barrier()
f(np)
""",
    "the last case cannot happen": """
if rank == 0:
    comm.barrier()
elif rank > 0:
    comm.barrier()
else:
    raise ValueError("rank")
comm.barrier()
""",
    "each rank in turn": """
for turn in range(size):
    if turn == rank:
        print(rank)
    comm.barrier()
for root in range(size):
    comm.bcast(rank, root=root)
""",
}

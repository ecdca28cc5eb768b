"""Programs with mistakes in collective calls, and their corrected versions.

A line with a mistake ends with the code of its finding. All programs begin with HEAD.
"""

from __future__ import annotations

HEAD = """import time
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
"""

COLLECTIVES = {
    "only the root broadcasts": (
        """
data = None
if rank == 0:  # FM101
    data = comm.bcast({"n": 3}, root=0)
print(data)
""",
        """
data = {"n": 3} if rank == 0 else None
data = comm.bcast(data, root=0)
print(data)
""",
    ),
    "barrier of even ranks": (
        """
if not rank % 2:  # FM101
    print("even")
    comm.Barrier()
""",
        """
if not rank % 2:
    print("even")
comm.Barrier()
""",
    ),
    "branches in a different order": (
        """
if rank < size // 2:  # FM101
    comm.allreduce(1)
    comm.barrier()
else:
    comm.barrier()
    comm.allreduce(1)
""",
        """
if rank < size // 2:
    comm.allreduce(1)
    comm.barrier()
else:
    comm.allreduce(2)
    comm.barrier()
""",
    ),
    "pickled and buffered broadcast": (
        """
x = np.zeros(3)
if rank == 0:  # FM101
    comm.Bcast(x, root=0)
else:
    x = comm.bcast(None, root=0)
""",
        """
x = np.zeros(3)
if rank == 0:
    comm.Bcast(x, root=0)
else:
    comm.Bcast(x, root=0)
""",
    ),
    "a condition on a result that only the root has": (
        """
error = comm.reduce(rank * 0.1, MPI.MAX, root=0)
if error is not None and error > 0.2:  # FM101
    comm.barrier()
""",
        """
error = comm.allreduce(rank * 0.1, MPI.MAX)
if error > 0.2:
    comm.barrier()
""",
    ),
    "the result of Reduce": (
        """
def converged(comm, local):
    total = np.zeros(1)
    comm.Reduce(local, total, root=0)
    return total[0] < 1e-3

if not converged(comm, np.ones(1)):  # FM101
    print(comm.allgather(rank))
""",
        """
def converged(comm, local):
    total = np.zeros(1)
    comm.Allreduce(local, total)
    return total[0] < 1e-3

if not converged(comm, np.ones(1)):
    print(comm.allgather(rank))
""",
    ),
    "data of the rank": (
        """
part = comm.scatter([[each] * each for each in range(size)] if rank == 0 else None)
if len(part) > 1:  # FM101
    print(comm.allreduce(sum(part)))
""",
        """
part = comm.scatter([[each] * each for each in range(size)] if rank == 0 else None)
largest = comm.allreduce(len(part), MPI.MAX)
if largest > 1:
    print(comm.allreduce(sum(part)))
""",
    ),
    "a function with a collective call": (
        """
def total(comm, values):
    return comm.allreduce(sum(values))

def report(comm):
    if comm.Get_rank() == 0:  # FM101
        print("total", total(comm, [1, 2]))

report(comm)
""",
        """
def total(comm, values):
    return comm.allreduce(sum(values))

def report(comm):
    found = total(comm, [1, 2])
    if comm.Get_rank() == 0:
        print("total", found)

report(comm)
""",
    ),
    "a method of a class": (
        """
class Solver:
    def __init__(self, comm):
        self.comm = comm
        self.rank = comm.Get_rank()

    @property
    def is_root(self):
        return self.rank == 0

    def norm(self):
        return self.comm.allreduce(self.rank)

    def show(self):
        if self.is_root:  # FM101
            print(self.norm())

Solver(comm).show()
""",
        """
class Solver:
    def __init__(self, comm):
        self.comm = comm
        self.rank = comm.Get_rank()

    @property
    def is_root(self):
        return self.rank == 0

    def norm(self):
        return self.comm.allreduce(self.rank)

    def show(self):
        norm = self.norm()
        if self.is_root:
            print(norm)

Solver(comm).show()
""",
    ),
    "a conditional expression": (
        """
name = comm.bcast("input") if rank == 0 else ""  # FM101
print(name)
""",
        """
name = comm.bcast("input" if rank == 0 else "")
print(name)
""",
    ),
    "and": (
        """
done = rank == 0 and comm.allreduce(1) > 3  # FM101
print(done)
""",
        """
done = comm.allreduce(1) > 3 and rank == 0
print(done)
""",
    ),
    "ranks of a part call a collective of all": (
        """
part = comm.Split(rank % 2, rank)
if part.rank == 0:
    print("first of its part")
    if rank == 0:  # FM101
        comm.barrier()
part.Free()
""",
        """
part = comm.Split(rank % 2, rank)
if part.rank == 0:
    print("first of its part")
    if rank == 0:
        print("first of all")
part.barrier()
part.Free()
""",
    ),
    "split by the first ranks": (
        """
if rank < 2:  # FM101
    part = comm.Split(0, rank)
    part.barrier()
    part.Free()
""",
        """
part = comm.Split(0 if rank < 2 else MPI.UNDEFINED, rank)
if part != MPI.COMM_NULL:
    part.barrier()
    part.Free()
""",
    ),
    "the time of each rank": (
        """
start = time.time()
for step in range(10):
    comm.allreduce(step)
    if time.time() - start > 60:
        break  # FM102
""",
        """
start = time.time()
for step in range(10):
    comm.allreduce(step)
    if comm.bcast(time.time() - start > 60):
        break
""",
    ),
    "return before a broadcast": (
        """
def load(comm, name):
    rank = comm.Get_rank()
    if rank == 0:
        try:
            lines = open(name).readlines()
        except OSError:
            lines = []
        if not lines:
            return None  # FM102
    else:
        lines = None
    return comm.bcast(lines)

load(comm, "nosuch.txt")
""",
        """
def load(comm, name):
    rank = comm.Get_rank()
    if rank == 0:
        try:
            lines = open(name).readlines()
        except OSError:
            lines = []
    else:
        lines = None
    return comm.bcast(lines)

load(comm, "nosuch.txt")
""",
    ),
    "raise on one rank": (
        """
def check(comm, values):
    if comm.rank == comm.size - 1 and not values:
        raise ValueError("no values")  # FM102
    return comm.allreduce(len(values))

check(comm, [])
""",
        """
def check(comm, values):
    total = comm.allreduce(len(values))
    if total == 0 and comm.rank == 99:
        raise ValueError("no values")
    return total

check(comm, [])
""",
    ),
    "the program exits on the root": (
        """
import sys
if rank == 0 and len(sys.argv) < 2:
    print("usage: work.py FILE")
    sys.exit(1)  # FM102
comm.barrier()
""",
        """
import sys
if len(sys.argv) < 1:
    if rank == 0:
        print("usage: work.py FILE")
    sys.exit(1)
comm.barrier()
""",
    ),
    "continue before a reduction": (
        """
for step in range(4):
    if step % size == rank:
        continue  # FM102
    comm.allreduce(step)
""",
        """
for step in range(4):
    comm.allreduce(0 if step % size == rank else step)
""",
    ),
    "cyclic distribution": (
        """
items = list(range(size + 1))
for item in items[rank::size]:  # FM103
    comm.allreduce(item)
""",
        """
items = list(range(size + 1))
mine = sum(items[rank::size])
comm.allreduce(mine)
""",
    ),
    "block distribution with a remainder": (
        """
n = 10
count = n // size + (rank < n % size)
for i in range(count):  # FM103
    comm.gather(i)
""",
        """
n = 10
count = n // size + (rank < n % size)
for i in range(comm.allreduce(count, MPI.MAX)):
    comm.gather(i if i < count else None)
""",
    ),
    "while with data of the rank": (
        """
work = rank + 1
while work > 0:  # FM103
    work -= 1
    comm.barrier()
""",
        """
work = rank + 1
while comm.allreduce(work, MPI.MAX) > 0:
    work = max(work - 1, 0)
    comm.barrier()
""",
    ),
    "a comprehension": (
        """
chunks = np.array_split(np.arange(size + 1), size)
sums = [comm.allreduce(int(each)) for each in chunks[rank]]  # FM103
print(sums)
""",
        """
chunks = np.array_split(np.arange(size + 1), size)
sums = comm.allreduce(sum(int(each) for each in chunks[rank]))
print(sums)
""",
    ),
    "an exception before a reduction": (
        """
def step(comm, name):
    try:  # FM104
        value = float(open(name).read())
        return comm.allreduce(value)
    except (OSError, ValueError):
        return 0.0

step(comm, f"nosuch{rank}.txt")
""",
        """
def step(comm, name):
    try:
        value = float(open(name).read())
    except (OSError, ValueError):
        value = 0.0
    return comm.allreduce(value)

step(comm, f"nosuch{rank}.txt")
""",
    ),
    "an exception in a loop": (
        """
def compute(step):
    if (step + rank) % 5 == 4:
        raise RuntimeError("no convergence")
    return step

for step in range(3):
    try:  # FM104
        value = compute(step)
        comm.bcast(value)
    except Exception as error:
        print(error)
""",
        """
def compute(step):
    if (step + rank) % 5 == 4:
        raise RuntimeError("no convergence")
    return step

for step in range(3):
    try:
        value = compute(step)
    except Exception as error:
        print(error)
        value = None
    comm.bcast(value)
""",
    ),
    "each rank is the root": (
        """
x = np.full(2, rank)
comm.Bcast(x, root=rank)  # FM105
""",
        """
x = np.full(2, rank)
for root in range(size):
    comm.Bcast(x, root=root)
""",
    ),
}  # fmt: skip

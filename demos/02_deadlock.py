"""Run two programs that deadlock; fakempi reports why, at once and without a timeout.

    python demos/02_deadlock.py"""

import numpy as np
from screen import arguments

import fakempi


def exchange(comm, count):
    """Send to the right, then receive from the left. MPI does not guarantee that this works."""
    rank, size = comm.Get_rank(), comm.Get_size()
    mine, other = np.full(count, float(rank)), np.empty(count)
    comm.Send(mine, dest=(rank + 1) % size, tag=7)
    comm.Recv(other, source=(rank - 1) % size, tag=7)


def results(comm):
    """Rank 0 distributes work and collects the results. One tag is wrong."""
    if comm.Get_rank() == 0:
        for worker in range(1, comm.Get_size()):
            comm.send("work", dest=worker, tag=1)
        for _ in range(1, comm.Get_size()):
            comm.recv(tag=2)
    else:
        comm.recv(source=0, tag=2)
        comm.send("done", dest=0, tag=2)


arguments(__doc__)
print("exchange of 1,000 numbers (small messages are buffered, so it works, as on most machines)")
print(fakempi.run(exchange, 64, 1_000))

for what, program, *args in (
    ("the same with 10,000 numbers (80,000 bytes exceed the eager limit)", exchange, 10_000),
    ("work for 63 ranks, with a wrong tag", results),
):
    print(f"\n{what}")
    try:
        fakempi.run(program, 64, *args)
    except fakempi.DeadlockError as deadlock:
        print(deadlock)

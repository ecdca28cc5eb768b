"""Two programs that never end, and what fakempi says about them, at once and without a time-out.

    python demos/02_deadlock.py"""

import numpy as np
from screen import asked

import fakempi


def exchange(comm, count):
    """Everybody sends to the right, and only then receives from the left. MPI does not promise that this works."""
    rank, size = comm.Get_rank(), comm.Get_size()
    mine, other = np.full(count, float(rank)), np.empty(count)
    comm.Send(mine, dest=(rank + 1) % size, tag=7)
    comm.Recv(other, source=(rank - 1) % size, tag=7)


def results(comm):
    """Rank 0 hands out work and collects the results. One tag is wrong."""
    if comm.Get_rank() == 0:
        for worker in range(1, comm.Get_size()):
            comm.send("work", dest=worker, tag=1)
        for _ in range(1, comm.Get_size()):
            comm.recv(tag=2)
    else:
        comm.recv(source=0, tag=2)
        comm.send("done", dest=0, tag=2)


asked(__doc__)
print("exchange of 1,000 numbers (small messages are buffered, so it works, as on most machines)")
print(fakempi.run(exchange, 64, 1_000))

for what, program, *args in (
    ("the same with 10,000 numbers (80,000 bytes are over the buffering limit)", exchange, 10_000),
    ("work for 63, with a wrong tag", results),
):
    print(f"\n{what}")
    try:
        fakempi.run(program, 64, *args)
    except fakempi.DeadlockError as deadlock:
        print(deadlock)
